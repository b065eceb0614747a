"""Small copies of painted pictures, a pixel for 8 x 8: what is left of them whatever the fonts.

`python -m tests.view.picture.thumbnails` makes those of tests/view/flow/golden again; `make pictures` does so.
"""

import os
import pathlib
import tempfile

import numpy

from tests.support import paths, png, recording, warm

GOLDEN = pathlib.Path(__file__).parent / "golden"
NAMES = ("quick_notebook.png", "quick_arguments.png", "nan_in_entropy.dark.png")
# Mean distance of all, and the largest of the means of squares of 64 x 64 pixels. On a machine
# without any font, where letters are boxes, 2.4 and 20 were measured; with a row of boxes wiped
# out, 44 and more for the second.
MEAN = 4
SQUARE_MEAN = 28
SQUARE = 8



def draw(folder, names, **variables):
    """The files `names` of samples' pictures, made in `folder`."""
    path = os.pathsep.join([str(paths.COMMAND.parent), os.environ["PATH"]])
    environment = {**os.environ, "PYTHONPATH": str(paths.PYTHON_PATH), "PATH": path, **variables}
    environment["MONITORCH_TEST_PYTHON"] = warm.python()
    done = recording.run_python(
        "tools/pictures.py",
        folder,
        *names,
        python=warm.python(),
        folder=paths.ROOT,
        env=environment,
    )
    assert done.returncode == 0, done.stderr


def make(folder, **variables):
    """Thumbnails by name, freshly painted."""
    draw(folder, NAMES, **variables)
    return {name: png.shrink(png.read((folder / name).read_bytes())) for name in NAMES}


def is_alike(one, other):
    if one.shape != other.shape:
        return False
    distance = abs(one.astype(float) - other.astype(float)).max(axis=2)
    height, width = (-(-size // SQUARE) for size in distance.shape)
    squares = numpy.zeros((height * SQUARE, width * SQUARE))
    squares[: distance.shape[0], : distance.shape[1]] = distance
    means = squares.reshape(height, SQUARE, width, SQUARE).mean(axis=(1, 3))
    return distance.mean() <= MEAN and means.max() <= SQUARE_MEAN


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, pixels in make(pathlib.Path(folder)).items():
            GOLDEN.mkdir(exist_ok=True)
            (GOLDEN / name).write_bytes(png.write(pixels))


if __name__ == "__main__":
    main()
