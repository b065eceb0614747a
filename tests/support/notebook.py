"""A kernel of Jupyter, and what its cells output."""

import base64
import sys

from tests.support import png, recording


def png_in(shown):
    """The PNG among the forms in which an output is shown."""
    data = base64.b64decode(shown["image/png"])
    assert data.startswith(png.SIGNATURE)
    return data


def same_stream(before, content):
    return before["name"] == content["name"]


class Notebook:
    """One kernel, started in a folder."""

    def __init__(self, folder):
        from jupyter_client.manager import KernelManager

        environment = recording.environment("off")
        environment.update(
            IPYTHONDIR=str(folder / "ipython"),
            JUPYTER_CONFIG_DIR=str(folder / "config"),
            JUPYTER_DATA_DIR=str(folder / "data"),
            JUPYTER_RUNTIME_DIR=str(folder / "runtime"),
        )
        self.manager = KernelManager(connection_file=str(folder / "kernel.json"))
        self.manager.kernel_spec.argv[0] = sys.executable
        self.manager.start_kernel(cwd=str(folder), env=environment)
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def run(self, source):
        """A cell's outputs: (kind, content). A stream arrives in parts cut by a clock: one here."""
        outputs = []

        def keep(message):
            kind, content = message["header"]["msg_type"], message["content"]
            if outputs and kind == outputs[-1][0] == "stream" and same_stream(outputs[-1][1], content):
                outputs[-1][1]["text"] += content["text"]
            elif kind in ("stream", "display_data", "execute_result", "error"):
                outputs.append((kind, content))

        reply = self.client.execute_interactive(source, output_hook=keep, timeout=60)
        self.number = reply["content"]["execution_count"]  # of the cell, as its user sees it
        errors = [content for kind, content in outputs if kind == "error"]
        assert reply["content"]["status"] == "ok", "\n".join(errors[0]["traceback"])
        return outputs

    def value(self, source):
        """What a cell with this expression shows."""
        (result,) = [c for kind, c in self.run(source) if kind == "execute_result"]
        return result["data"]["text/plain"]

    def stop(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
