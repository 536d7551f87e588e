import base64
import ctypes
import functools
import json
import zlib

import torch
from torch import nn

_DTYPES = {"bf16": torch.bfloat16, "f32": torch.float32, "u8": torch.uint8, "i32": torch.int32}
_COOPERATIVE, _CLUSTER = 2, 4                       # CUlaunchAttributeID
_MAX_SHARED, _NON_PORTABLE_CLUSTER = 8, 14          # CUfunction_attribute
_MULTIPROCESSORS = 16                               # CUdevice_attribute
_INVALID_CONTEXT = 201


class _Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint), ("pad", ctypes.c_uint), ("value", ctypes.c_uint * 16)]


class _Config(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(_Attribute)), ("count", ctypes.c_uint)]


class _Driver:
    """The few calls of libcuda that this needs, in torch's own (primary) context of one device."""

    def __init__(self, device):
        if device.type != "cuda":
            raise RuntimeError(f"the weights are on {device}: move the model to an NVIDIA GPU first")
        self.index = torch.cuda.current_device() if device.index is None else device.index
        torch.cuda.synchronize(self.index)  # there is a context from here on
        self.library = ctypes.CDLL("libcuda.so.1")
        handle = ctypes.c_int()
        self.check(self.library.cuDeviceGet(ctypes.byref(handle), self.index), "cuDeviceGet")
        self.context = ctypes.c_void_p()
        self.check(self.library.cuDevicePrimaryCtxRetain(ctypes.byref(self.context), handle), "cuDevicePrimaryCtxRetain")
        self.make_current()
        count = ctypes.c_int()
        self.check(self.library.cuDeviceGetAttribute(ctypes.byref(count), _MULTIPROCESSORS, handle), "cuDeviceGetAttribute")
        self.multiprocessors = count.value

    def make_current(self):
        self.check(self.library.cuCtxSetCurrent(self.context), "cuCtxSetCurrent")

    def check(self, code, what):
        if code:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(code, ctypes.byref(text))
            raise RuntimeError(f"{what}: {(text.value or b'unknown error').decode()} (CUDA error {code})")

    def load(self, image):
        module = ctypes.c_void_p()
        self.check(self.library.cuModuleLoadData(ctypes.byref(module), image), "loading the kernel (it is built for one architecture)")
        return module

    def function(self, module, name, shared, cluster):
        function = ctypes.c_void_p()
        self.check(self.library.cuModuleGetFunction(ctypes.byref(function), module, name.encode()), name)
        if shared:
            self.check(self.library.cuFuncSetAttribute(function, _MAX_SHARED, shared), f"{name}: {shared} bytes of shared memory")
        if cluster > 8:
            self.check(self.library.cuFuncSetAttribute(function, _NON_PORTABLE_CLUSTER, 1), f"{name}: clusters of {cluster}")
        return function

    def launcher(self, config, function, parameters):
        """A call without arguments that launches with what config and parameters hold then; gives the driver's code."""
        return functools.partial(self.library.cuLaunchKernelEx, ctypes.byref(config), function, parameters, None)

    def stream(self):
        return torch._C._cuda_getCurrentRawStream(self.index)


class _Launch:
    """One kernel with its launch shape and its argument words. Calling it costs one driver call."""

    def __init__(self, driver, module, name, shape, words, cooperative):
        self.driver, self.name = driver, name
        self.words = (ctypes.c_uint64 * words)()
        self.parameters = (ctypes.c_void_p * 1)(ctypes.addressof(self.words))
        self.attributes = (_Attribute * 2)()
        self.config = _Config()
        blocks = shape["grid"] * (driver.multiprocessors if shape["per_sm"] else 1)
        self.config.grid, self.config.block = (blocks, 1, 1), (shape["block"], 1, 1)
        self.config.shared, self.config.attributes = shape["dynamic_smem"], self.attributes
        cluster = shape.get("cluster", 1)
        if cooperative:
            self.attributes[0].id, self.attributes[0].value[0] = _COOPERATIVE, 1
            self.config.count = 1
        if cluster > 1:
            self.attributes[self.config.count].id = _CLUSTER
            self.attributes[self.config.count].value[0:3] = (cluster, 1, 1)
            self.config.count += 1
        self.call = driver.launcher(self.config, driver.function(module, name, shape["dynamic_smem"], cluster), self.parameters)

    def __call__(self):
        self.config.stream = self.driver.stream()
        code = self.call()
        if code == _INVALID_CONTEXT:  # another thread than the one that loaded the kernel
            self.driver.make_current()
            code = self.call()
        if code:
            self.driver.check(code, f"launching {self.name}")


class _Kernel:
    """The megakernel on one device with what it keeps there: prepared weights, sync, scratch."""

    def __init__(self, description, image, device):
        self.description, self.device = description, device
        self.driver = _Driver(device)
        self.module = self.driver.load(image)
        shape = description["launch"]
        self.prepared, self.sync, self.scratch = (
            torch.zeros(max(shape[name], 1), dtype=torch.uint8, device=device) if name == "sync_bytes" else
            torch.empty(max(shape[name], 1), dtype=torch.uint8, device=device)
            for name in ("prepared_bytes", "sync_bytes", "scratch_bytes"))
        self.epoch = 0
        self.weights = {}
        layout = description["prepare_args"]
        self.prepares = [_Launch(self.driver, self.module, prepare["name"], prepare, layout["words"], False)
                         for prepare in description["prepares"]]

    def use_weights(self, weights):
        """Runs the prepare kernels on these tensors, by the task's names. Later launches read them."""
        self.weights = weights
        layout = self.description["prepare_args"]
        for prepare in self.prepares:
            for name, word in layout["pointers"].items():
                prepare.words[word] = weights[name].data_ptr()
            prepare.words[layout["prepared"]] = self.prepared.data_ptr()
            prepare()

    def launch(self):
        layout = self.description["args"]
        launch = _Launch(self.driver, self.module, "megakernel", self.description["launch"], layout["words"], True)
        for name, buffer in (("prepared", self.prepared), ("sync", self.sync), ("scratch", self.scratch)):
            launch.words[layout[name]] = buffer.data_ptr()
        return launch

    def point_to_weights(self, launch):
        for name, tensor in self.weights.items():
            launch.words[self.description["args"]["pointers"][name]] = tensor.data_ptr()


def _image():
    return zlib.decompress(base64.b32decode("".join(_CUBIN.split())))


class _Part(nn.Module):
    """Holds weights. Says when one of its tensors is replaced by another."""

    changes = None  # a list of one number, shared by all parts of a model

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if self.changes is not None and isinstance(value, torch.Tensor):
            self.changes[0] += 1


class _Arena:
    """All weights of a model as views of one tensor, which share one version: a change of any is seen by one look."""

    ALIGNMENT = 256

    def __init__(self, module, changes):
        self.device = None
        self.places = []
        size = 0
        for part in module.modules():
            for table in (part._buffers, part._parameters):
                for name, tensor in table.items():
                    if self.device is None:
                        self.device = tensor.device
                    if tensor.device != self.device:
                        raise RuntimeError("the weights are on several devices")
                    self.places.append((table, name, size))
                    size += -(-tensor.numel() * tensor.element_size() // self.ALIGNMENT) * self.ALIGNMENT
            if isinstance(part, _Part):
                object.__setattr__(part, "changes", changes)
        with torch.inference_mode(False), torch.no_grad():
            self.bytes = torch.zeros(size, dtype=torch.uint8, device=self.device)
            for table, name, offset in self.places:
                self._move_in(table, name, offset)

    def _move_in(self, table, name, offset):
        tensor = table[name]
        view = self.bytes[offset:offset + tensor.numel() * tensor.element_size()].view(tensor.dtype).view(tensor.shape)
        view.copy_(tensor)
        table[name] = nn.Parameter(view, requires_grad=False) if isinstance(tensor, nn.Parameter) else view

    def holds_all(self):
        base = self.bytes.data_ptr()
        return all(table[name].data_ptr() == base + offset for table, name, offset in self.places)
