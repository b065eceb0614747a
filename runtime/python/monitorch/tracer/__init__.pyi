from monitorch.tracer._link import RankError as RankError
from monitorch.tracer._message import NotGathered as NotGathered
from monitorch.tracer.h5py_saver import H5PYSaverCallback as H5PYSaverCallback
from monitorch.tracer.results import LabelledArray as LabelledArray
from monitorch.tracer.results import TracedValues as TracedValues
from monitorch.tracer.stacking import stack_padded_tensors as stack_padded_tensors
from monitorch.tracer.stacking import stack_tensors as stack_tensors
from monitorch.tracer.traced import TracedModel as TracedModel
from monitorch.tracer.traced import trace_model as trace_model
from monitorch.tracer.tracer import ModelTracer as ModelTracer

__all__ = [
    "H5PYSaverCallback",
    "LabelledArray",
    "ModelTracer",
    "NotGathered",
    "RankError",
    "TracedModel",
    "TracedValues",
    "stack_padded_tensors",
    "stack_tensors",
    "trace_model",
]
