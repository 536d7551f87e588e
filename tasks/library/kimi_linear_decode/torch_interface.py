# The module as the public KernelBench-Mega board has it: its names, shapes and step(hidden, state). Put behind
# the harness's torch runtime by `onelaunch export --format torch`.

_DIM_OF = {"hidden": "hidden", "kda_heads": "kda_heads", "kda_head_dim": "kda_dim", "short_conv": "conv_width",
           "mla_heads": "mla_heads", "kv_lora": "kv_lora", "qk_nope": "nope", "qk_rope": "rope", "v_head": "v_dim",
           "n_experts": "experts", "n_active": "topk", "moe_inter": "inter", "group": "group"}
_WINDOWS = ("cq", "ck", "cv")
_SPARE_ROWS = 1024   # room that a cache gets beyond what it holds when it is taken over
_SEQUENCES = 4       # that one model steps in turns without taking them over again
_OUTPUTS = 64        # results allocated at once


class _Int4(_Part):
    """(experts,) in/2, out: two values a byte along `in`, even row in the low nibble; scales and zeros in groups of rows."""

    def __init__(self, rows, columns, group, experts=None):
        super().__init__()
        lead = () if experts is None else (experts,)
        self.register_buffer("w_q", torch.zeros(*lead, rows // 2, columns, dtype=torch.uint8))
        self.register_buffer("scales", torch.zeros(*lead, rows // group, columns, dtype=torch.bfloat16))
        self.register_buffer("zeros", torch.zeros(*lead, rows // group, columns, dtype=torch.bfloat16))

    def named(self, name):
        return {f"{name}.packed": self.w_q, f"{name}.scale": self.scales, f"{name}.zero": self.zeros}


def _parameter(*shape, value=0.0):
    return nn.Parameter(torch.full(shape, value, dtype=torch.bfloat16), requires_grad=False)


class _Linear(_Part):
    def __init__(self, rows, columns):
        super().__init__()
        self.weight = _parameter(columns, rows)


class _Kda(_Part):
    def __init__(self, dim):
        super().__init__()
        width = dim["kda_heads"] * dim["kda_dim"]
        for name in ("q_proj", "k_proj", "v_proj", "g_proj"):
            setattr(self, name, _Int4(dim["hidden"], width, dim["group"]))
        self.beta_proj = _Linear(dim["hidden"], dim["kda_heads"])
        self.conv_w = _parameter(3, width, dim["conv_width"])
        self.o_proj = _Int4(width, dim["hidden"], dim["group"])

    def named(self, name):
        tensors = {f"{name}.beta": self.beta_proj.weight}
        for index, which in enumerate("qkv"):
            tensors[f"{name}.conv_{which}"] = self.conv_w[index]
        for which in "qkvgo":
            tensors.update(getattr(self, f"{which}_proj").named(f"{name}.{which}"))
        return tensors


class _Mla(_Part):
    def __init__(self, dim):
        super().__init__()
        heads, group = dim["mla_heads"], dim["group"]
        self.q_proj = _Int4(dim["hidden"], heads * (dim["nope"] + dim["rope"]), group)
        self.kv_a = _Int4(dim["hidden"], dim["kv_lora"] + dim["rope"], group)
        self.kv_b = _Int4(dim["kv_lora"], heads * (dim["nope"] + dim["v_dim"]), group)
        self.o_proj = _Int4(heads * dim["v_dim"], dim["hidden"], group)

    def named(self, name):
        tensors = {}
        for part, ours in (("q_proj", "q"), ("kv_a", "kv_a"), ("kv_b", "kv_b"), ("o_proj", "o")):
            tensors.update(getattr(self, part).named(f"{name}.{ours}"))
        return tensors


class _Moe(_Part):
    def __init__(self, dim):
        super().__init__()
        hidden, inter, group = dim["hidden"], dim["inter"], dim["group"]
        self.router = _Linear(hidden, dim["experts"])
        for lead, experts in (("", dim["experts"]), ("s_", 1)):
            setattr(self, f"{lead}gate", _Int4(hidden, inter, group, experts))
            setattr(self, f"{lead}up", _Int4(hidden, inter, group, experts))
            setattr(self, f"{lead}down", _Int4(inter, hidden, group, experts))

    def named(self, name):
        tensors = {f"{name}.router": self.router.weight}
        for which in ("gate", "up", "down"):
            tensors.update(getattr(self, which).named(f"{name}.{which}"))
            tensors.update(getattr(self, f"s_{which}").named(f"{name}.shared_{which}"))
        return tensors


class _Block(_Part):
    def __init__(self, dim, kind):
        super().__init__()
        self.attn_norm = _parameter(dim["hidden"], value=1.0)
        self.moe_norm = _parameter(dim["hidden"], value=1.0)
        self.attn = _Kda(dim) if kind == "K" else _Mla(dim)
        self.moe = _Moe(dim)


def _pattern(dim):
    return "K" * dim["kda_layers"] + "M"


class _Sequence:
    """One sequence's states in buffers of our own, and the launch that points to them.

    The caller's dicts then hold these buffers: S and the windows are updated in place, c_kv and k_rope are views of the
    rows that are filled.
    """

    def __init__(self, model, kernel, state):
        self.kernel, self.state = kernel, state
        self.dim = model.dim
        self.layout = kernel.description["args"]
        self.launch = kernel.launch()
        self.words = self.launch.words
        kernel.point_to_weights(self.launch)
        pointers = self.layout["pointers"]
        self.token_word, self.out_word = pointers["token"], pointers["hidden_out"]
        self.position_word, self.epoch_word = self.layout["position"], self.layout["epoch"]
        self.hidden_shape = (self.dim["hidden"],)
        self.outputs = []
        self._check_state()
        self.held = []
        for index, layer in enumerate(state[:-1]):
            self._own(layer, "S", f"kda.{index}.S", torch.float32)
            for key in _WINDOWS:
                self._own(layer, key, f"kda.{index}.window_{key[1]}", torch.bfloat16)
        self.caches = state[-1]
        self.rows = self.caches["c_kv"].shape[0]
        self._grow(self.rows + _SPARE_ROWS)
        self._show_rows()

    def _check_state(self):
        dim, state = self.dim, self.state
        width = dim["kda_heads"] * dim["kda_dim"]
        if len(state) != dim["layers"]:
            raise ValueError(f"the state has {len(state)} layers, not {dim['layers']}")
        for layer in state[:-1]:
            self._check(layer, "S", torch.float32, (dim["kda_heads"], dim["kda_dim"], dim["kda_dim"]))
            for key in _WINDOWS:
                self._check(layer, key, torch.bfloat16, (dim["conv_width"] - 1, width))
        rows = state[-1]["c_kv"].shape[0]
        self._check(state[-1], "c_kv", torch.bfloat16, (rows, dim["kv_lora"]))
        self._check(state[-1], "k_rope", torch.bfloat16, (rows, dim["rope"]))

    def _check(self, layer, key, dtype, shape):
        tensor = layer[key]
        if tensor.dtype != dtype or tuple(tensor.shape) != shape or tensor.device != self.kernel.device:
            raise ValueError(f"the state's {key} is {tensor.dtype} {tuple(tensor.shape)} on {tensor.device}; "
                             f"it has to be {dtype} {shape} on {self.kernel.device}")

    def _own(self, layer, key, name, dtype):
        tensor = torch.empty(layer[key].shape, dtype=dtype, device=self.kernel.device)
        tensor.copy_(layer[key])
        layer[key] = tensor
        self.held.append((layer, key, tensor))
        self.words[self.layout["pointers"][name]] = tensor.data_ptr()

    def _grow(self, capacity):
        self.capacity = -(-capacity // 256) * 256
        old = self.caches["c_kv"], self.caches["k_rope"]
        self.buffers = tuple(torch.empty(self.capacity, tensor.shape[1], dtype=tensor.dtype, device=tensor.device) for tensor in old)
        for buffer, tensor, name in zip(self.buffers, old, ("mla.0.c_kv", "mla.0.k_rope")):
            buffer[:self.rows].copy_(tensor)
            self.words[self.layout["pointers"][name]] = buffer.data_ptr()
        self.words[self.layout["cache_capacity"]] = self.capacity

    def _show_rows(self):
        caches = self.caches
        self.c_kv = caches["c_kv"] = self.buffers[0].narrow(0, 0, self.rows)
        self.k_rope = caches["k_rope"] = self.buffers[1].narrow(0, 0, self.rows)

    def is_of(self, state):
        """The same list with the very tensors that the last step left in it."""
        if state is not self.state or state[-1] is not self.caches:
            return False
        if self.caches["c_kv"] is not self.c_kv or self.caches["k_rope"] is not self.k_rope:
            return False
        for layer, key, tensor in self.held:
            if layer[key] is not tensor:
                return False
        return True

    def advance(self, hidden):
        if hidden.dtype is not torch.bfloat16 or hidden.shape != self.hidden_shape or not hidden.is_contiguous():
            hidden = self._as_token(hidden)
        if self.rows == self.capacity:
            self._grow(2 * self.capacity)
        if not self.outputs:
            self.outputs = list(torch.empty(_OUTPUTS, *self.hidden_shape, dtype=torch.bfloat16, device=self.kernel.device).unbind(0))
        output, words = self.outputs.pop(), self.words
        words[self.token_word] = hidden.data_ptr()
        words[self.out_word] = output.data_ptr()
        words[self.position_word] = self.rows
        words[self.epoch_word] = self.kernel.epoch
        self.launch()
        self.kernel.epoch += 1
        self.rows += 1
        self._show_rows()
        return output

    def _as_token(self, hidden):
        if hidden.numel() != self.dim["hidden"] or hidden.device != self.kernel.device:
            raise ValueError(f"hidden is {tuple(hidden.shape)} on {hidden.device}; it has to be {self.hidden_shape} on {self.kernel.device}")
        return hidden.to(torch.bfloat16).reshape(self.hidden_shape).contiguous()


class Model(nn.Module):
    """step(hidden, state) decodes one token; `state` is a list of a dict for each layer and is updated."""

    def __init__(self, cfg=None):
        super().__init__()
        self.cfg = cfg
        self.dim = _DESCRIPTION["dims"]
        self._check_config(cfg)
        self.blocks = nn.ModuleList(_Block(self.dim, kind) for kind in _pattern(self.dim))
        self._changes = [0]
        self._forget()
        self._arena = _Arena(self, self._changes)

    def _check_config(self, cfg):
        for name, ours in _DIM_OF.items():
            value = getattr(cfg, name, self.dim[ours])
            if value != self.dim[ours]:
                raise ValueError(f"this kernel is built for {name} = {self.dim[ours]}, not {value}")
        if "".join(getattr(cfg, "pattern", _pattern(self.dim))) != _pattern(self.dim) or getattr(cfg, "n_shared", 1) != 1:
            raise ValueError("this kernel is built for the layers " + _pattern(self.dim) + " and one shared expert")

    def _forget(self):
        self._kernel, self._sequences, self._seen = None, [], None

    def _apply(self, fn, *arguments, **named):
        super()._apply(fn, *arguments, **named)
        self._forget()
        self._arena = _Arena(self, self._changes)
        return self

    def __getstate__(self):
        """Copies and pickles load the kernel anew."""
        return {**self.__dict__, "_kernel": None, "_sequences": [], "_seen": None, "_arena": None}

    def named_weights(self):
        """The tensors by the task's names, which the kernel's arguments have."""
        tensors = {}
        for index, block in enumerate(self.blocks):
            attention = f"kda.{index}" if index < self.dim["kda_layers"] else "mla.0"
            tensors[f"{attention}.norm"], tensors[f"moe.{index}.norm"] = block.attn_norm, block.moe_norm
            tensors.update(block.attn.named(attention))
            tensors.update(block.moe.named(f"moe.{index}"))
        return tensors

    def _version(self):
        return self._arena.bytes._version + self._changes[0]

    def prepare(self):
        """Repacks the weights for the kernel. Called by itself when they change, except behind torch's back (`.data`)."""
        with torch.no_grad():
            if self._arena is None or not self._arena.holds_all():
                self._arena = _Arena(self, self._changes)
            if self._kernel is None or self._kernel.device != self._arena.device:
                self._kernel, self._sequences = _Kernel(_DESCRIPTION, _image(), self._arena.device), []
            self._kernel.use_weights(self.named_weights())
            for sequence in self._sequences:
                self._kernel.point_to_weights(sequence.launch)
        self._seen = self._version()

    def _sequence_of(self, state):
        for index, sequence in enumerate(self._sequences):
            if sequence.is_of(state):
                self._sequences.insert(0, self._sequences.pop(index))
                return sequence
        if self._arena is None or not self._arena.holds_all():
            self._seen = None
        if self._seen is None or self._seen != self._version():
            self.prepare()
        with torch.no_grad():
            self._sequences.insert(0, _Sequence(self, self._kernel, state))
        del self._sequences[_SEQUENCES:]
        return self._sequences[0]

    def step(self, hidden, state):
        sequences = self._sequences
        sequence = sequences[0] if sequences and sequences[0].is_of(state) else self._sequence_of(state)
        if self._seen != self._arena.bytes._version + self._changes[0]:
            self.prepare()
        return sequence.advance(hidden), state

    forward = step
