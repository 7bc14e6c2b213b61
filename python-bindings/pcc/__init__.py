"""pcc compiles a model graph (ONNX) into one program per rank, and runs and trains those programs.

    import pcc
    bundle = pcc.compile("m.onnx", tp=2, pp=2, dims={"batch": 8})
    outputs = bundle.run({"x": array})
"""
try:
    from . import _pcc
except ImportError as error:
    error.add_note("note: the installed package is damaged; `pip install --force-reinstall` of its wheel mends it")
    raise
from .bundle import Bundle, compile, explain, open, verify
from .error import Error
from .explanation import Explanation
from .page import Report, report
from .session import Session
from .shards import Shards

__version__ = _pcc.version()
__all__ = ["Bundle", "Error", "Explanation", "Report", "Session", "Shards", "compile", "explain", "open", "report", "verify"]
