#!/usr/bin/env python3
"""Runs any task's op graph in optimised PyTorch: what an engineer would use instead of a megakernel.

    onelaunch tasks dump TASK --context C --steps 4 --out DIR
    python3 torch_baseline.py DIR --modes torch,torch-graph,torch-compile --out RESULT.json

Reads graph.json, weights, states and steps from DIR; checks every mode's outputs and states against the oracle's
results there; then times it. torch: eager, bf16 products, chosen experts dequantised in one batch. torch-graph: the
same in a CUDA graph. torch-compile: torch.compile, then a CUDA graph. No step waits for the host.
"""
import argparse
import json
import math
import os
import statistics
import sys
import time

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    sys.exit("torch is not installed: pip install torch, or leave the torch baselines out")

DTYPES = {"BF16": torch.bfloat16, "F32": torch.float32, "U8": torch.uint8, "I32": torch.int32}
ROUND = {"bf16": torch.bfloat16, "f32": torch.float32, "i32": torch.int32}


def read_safetensors(path, device):
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        body = bytearray(file.read())
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        dtype = DTYPES[entry["dtype"]]
        flat = torch.frombuffer(body, dtype=dtype, count=(end - begin) // dtype.itemsize if hasattr(dtype, "itemsize")
                                else (end - begin) // torch.empty(0, dtype=dtype).element_size(), offset=begin) \
            if end > begin else torch.empty(0, dtype=dtype)
        tensors[name] = flat.reshape(entry["shape"]).to(device)
    return tensors


def dequantise(packed, scale, zero):
    """(..., in/2, out) nibbles to (..., in, out) bf16; q - zero is exact in bf16, so the product rounds once."""
    *lead, half, out = packed.shape
    nibbles = torch.stack((packed & 15, packed >> 4), dim=-2).reshape(*lead, 2 * half, out)
    groups = scale.shape[-2]
    q = nibbles.reshape(*lead, groups, 2 * half // groups, out).to(torch.bfloat16)
    return ((q - zero.unsqueeze(-2)) * scale.unsqueeze(-2)).reshape(*lead, 2 * half, out)


class Graph:
    """The ops as one function of tensors; states are updated in place."""

    def __init__(self, description, weights, states, device):
        self.ops = description["ops"]
        self.inputs, self.outputs = description["inputs"], description["outputs"]
        self.weights, self.states = weights, states
        self.position = torch.zeros((), dtype=torch.int64, device=device)
        self.rows = {}
        for op in self.ops:
            if not hasattr(self, "op_" + op["kind"]):
                sys.exit(f"the op {op['name']} is of kind {op['kind']}, which torch_baseline.py does not know")

    def int4(self, name):
        return tuple(self.weights[f"{name}.{part}"] for part in ("packed", "scale", "zero"))

    def step(self, *tokens):
        values = dict(zip(self.inputs, tokens))

        def get(name):
            return values[name] if name in values else self.states[name] if name in self.states else self.weights[name]

        for op in self.ops:
            results = getattr(self, "op_" + op["kind"])(op, get, op.get("attributes", {}))
            for name, result in zip(op["outputs"], results if isinstance(results, tuple) else (results,)):
                if name not in self.states:
                    values[name] = result if result.dtype in (torch.int32, torch.int64) else result.to(ROUND[op["round"]])
        return tuple(values[name] for name in self.outputs)

    # ---- ops: each gives the new values in the order of the op's outputs ----

    def op_rmsnorm(self, op, get, a):
        x = get(op["inputs"][0]).float()
        return x * torch.rsqrt(x.pow(2).mean() + a["eps"]) * get(op["inputs"][1]).float()

    def op_linear(self, op, get, a):
        return F.linear(get(op["inputs"][0]).to(torch.bfloat16), get(op["inputs"][1]))

    def op_linear_int4(self, op, get, a):
        return get(op["inputs"][0]).to(torch.bfloat16) @ dequantise(*self.int4(op["inputs"][1]))

    def op_swiglu_int4(self, op, get, a):
        x = get(op["inputs"][0]).to(torch.bfloat16)
        gate, up, down = (dequantise(*self.int4(name)) for name in op["inputs"][1:])
        return (F.silu(x @ gate) * (x @ up)) @ down

    def op_experts_int4(self, op, get, a):
        x, ids, scores = (get(name) for name in op["inputs"][:3])
        gate, up, down = (dequantise(*(part.index_select(0, ids) for part in self.int4(name))) for name in op["inputs"][3:])
        x = x.to(torch.bfloat16).expand(ids.shape[0], 1, -1)
        inner = F.silu(torch.bmm(x, gate)) * torch.bmm(x, up)
        return (torch.bmm(inner, down).squeeze(1).float() * scores.float().unsqueeze(1)).sum(0)

    def op_topk_routing(self, op, get, a):
        logits = get(op["inputs"][0]).float()
        chosen, ids = torch.topk(torch.softmax(logits, -1), int(a["k"]))
        return ids, chosen / (chosen.sum() + a.get("eps", 0.0)) * a.get("scale", 1.0)

    def op_add(self, op, get, a):
        return get(op["inputs"][0]).float() + get(op["inputs"][1]).float()

    def op_silu_mul(self, op, get, a):
        return F.silu(get(op["inputs"][0]).float()) * get(op["inputs"][1]).float()

    def op_slice(self, op, get, a):
        return get(op["inputs"][0])[int(a["begin"]):int(a["begin"]) + int(a["size"])]

    def op_append(self, op, get, a):
        cache = get(op["outputs"][0])
        cache.index_copy_(0, self.position.reshape(1), get(op["inputs"][0]).to(cache.dtype).reshape(1, -1))
        return cache

    def rotation(self, size, theta):
        exponents = torch.arange(0, size, 2, device=self.position.device, dtype=torch.float64) / size
        angle = self.position.double() * torch.pow(theta, -exponents)
        return angle.cos().float(), angle.sin().float()

    def op_rope_pairs(self, op, get, a):
        x = get(op["inputs"][0]).float().reshape(int(a["heads"]), -1)
        rotated = int(a.get("rotated", 0)) or x.shape[1]
        cos, sin = self.rotation(rotated, a["theta"])
        tail = x[:, x.shape[1] - rotated:].reshape(x.shape[0], -1, 2)
        even, odd = tail[..., 0], tail[..., 1]
        turned = torch.stack((even * cos - odd * sin, odd * cos + even * sin), -1).reshape(x.shape[0], rotated)
        return torch.cat((x[:, :x.shape[1] - rotated], turned), 1).reshape(-1)

    def op_rope_half(self, op, get, a):
        x = get(op["inputs"][0]).float().reshape(int(a["heads"]), -1)
        rotated = int(a.get("rotated", 0)) or x.shape[1]
        cos, sin = self.rotation(rotated, a["theta"])
        tail = x[:, x.shape[1] - rotated:]
        low, high = tail[:, :rotated // 2], tail[:, rotated // 2:]
        return torch.cat((x[:, :x.shape[1] - rotated], low * cos - high * sin, high * cos + low * sin), 1).reshape(-1)

    def op_causal_conv_update(self, op, get, a):
        x, weight, window = get(op["inputs"][0]), get(op["inputs"][1]), get(op["outputs"][1])
        taps = torch.cat((window, x.to(window.dtype).reshape(1, -1)), 0)
        y = F.silu((taps.float() * weight.float().t()).sum(0))
        window.copy_(taps[1:])
        return y, window

    def op_gated_delta_update(self, op, get, a):
        state = get(op["outputs"][1])
        heads, keys, width = state.shape
        query, key, value, gate = (get(name).float().reshape(heads, -1) for name in op["inputs"][:4])
        beta = torch.sigmoid(get(op["inputs"][4]).float()).reshape(heads, 1)
        state.mul_(torch.exp(-F.softplus(gate)).unsqueeze(2))
        predicted = torch.einsum("hkv,hk->hv", state, key)
        state.add_(key.unsqueeze(2) * (beta * (value - predicted)).unsqueeze(1))
        return torch.einsum("hkv,hk->hv", state, query).reshape(-1) / math.sqrt(keys), state

    def mask(self, rows):
        if rows not in self.rows:
            self.rows[rows] = torch.arange(rows, device=self.position.device)
        return self.rows[rows] > self.position

    def op_gqa_attention(self, op, get, a):
        heads, kv_heads = int(a["heads"]), int(a["kv_heads"])
        keys, values = (get(name).reshape(get(name).shape[0], kv_heads, -1) for name in op["inputs"][1:3])
        query = get(op["inputs"][0]).to(torch.bfloat16).reshape(kv_heads, heads // kv_heads, -1)
        scores = torch.einsum("khd,rkd->khr", query, keys).float() / math.sqrt(keys.shape[2])
        weights = torch.softmax(scores.masked_fill(self.mask(keys.shape[0]), float("-inf")), -1)
        return torch.einsum("khr,rkd->khd", weights.to(torch.bfloat16), values).reshape(-1)

    def op_mla_attention(self, op, get, a):
        heads, nope = int(a["heads"]), int(a["nope"])
        latents, rotated = get(op["inputs"][2]), get(op["inputs"][3])
        query = get(op["inputs"][0]).to(torch.bfloat16).reshape(heads, -1)
        up = dequantise(*self.int4(op["inputs"][1])).reshape(latents.shape[1], heads, -1)
        absorbed = torch.einsum("hn,lhn->hl", query[:, :nope], up[..., :nope])
        scores = (absorbed @ latents.t() + query[:, nope:] @ rotated.t()).float() / math.sqrt(query.shape[1])
        weights = torch.softmax(scores.masked_fill(self.mask(latents.shape[0]), float("-inf")), -1).to(torch.bfloat16)
        return torch.einsum("hl,lhv->hv", weights @ latents, up[..., nope:]).reshape(-1)


class Runner:
    """One mode of running the graph's step."""

    def __init__(self, graph, mode, tokens, position):
        self.graph, self.static = graph, [token.clone() for token in tokens]
        graph.position.fill_(position)
        self.call = graph.step
        if mode == "torch-compile":
            self.call = torch.compile(graph.step, fullgraph=True, dynamic=False)
        if mode != "torch":
            self.capture()

    def capture(self):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.call(*self.static)
        torch.cuda.current_stream().wait_stream(stream)
        captured, step = torch.cuda.CUDAGraph(), self.call
        with torch.cuda.graph(captured):
            self.results = step(*self.static)
        self.call = lambda *tokens: (captured.replay(), self.results)[1]

    def __call__(self, tokens, position):
        self.graph.position.fill_(position)
        for static, token in zip(self.static, tokens):
            static.copy_(token)
        return self.call(*self.static)


def spread(samples):
    return {"median": statistics.median(samples), "low": min(samples), "high": max(samples), "raw": samples}


def error(got, want):
    got, want = got.double().flatten(), want.double().flatten()
    scale = want.norm().item()
    return {"rel_l2": (got - want).norm().item() / scale if scale > 0 else (got - want).norm().item(),
            "max": (got - want).abs().max().item() if got.numel() else 0.0}


def check(graph, runner, before, steps, context, count):
    for name, state in before.items():
        graph.states[name].copy_(state)
    errors = {}
    for step in range(count):
        outputs = runner([steps[f"{step}.{name}"] for name in graph.inputs], context + step)
        for name, output in zip(graph.outputs, outputs):
            errors[f"{step}.{name}"] = error(output, steps[f"{step}.{name}"])
    for name, state in graph.states.items():
        errors[name] = error(state, steps[f"after.{name}"])
    return errors


def measure(runner, tokens, position, device, samples, inner):
    sync = torch.cuda.synchronize if device == "cuda" else (lambda: None)
    wall, device_us = [], []
    for sample in range(samples + 2):
        sync()
        begin = time.perf_counter()
        if device == "cuda":
            first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            first.record()
        for _ in range(inner):
            runner.call(*runner.static)
        if device == "cuda":
            last.record()
        sync()
        if sample >= 2:
            wall.append((time.perf_counter() - begin) * 1e6 / inner)
            if device == "cuda":
                device_us.append(first.elapsed_time(last) * 1e3 / inner)
    return wall, device_us


def count_kernels(runner):
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as profiler:
        runner.call(*runner.static)
        torch.cuda.synchronize()
    kernels = [event for event in profiler.events() if str(event.device_type).endswith("CUDA") and not event.name.startswith(("Mem", "gpu_"))]
    return len(kernels), sum(event.time_range.elapsed_us() for event in kernels)


def run_mode(mode, description, folder, device, samples, inner):
    weights = read_safetensors(os.path.join(folder, "weights.safetensors"), device)
    before = read_safetensors(os.path.join(folder, "states.safetensors"), device)
    steps = read_safetensors(os.path.join(folder, "steps.safetensors"), device)
    graph = Graph(description, weights, {name: state.clone() for name, state in before.items()}, device)
    context, count = description["context"], description["steps"]
    tokens = [steps[f"0.{name}"] for name in graph.inputs]
    runner = Runner(graph, mode, tokens, context)
    result = {"mode": mode, "context": context, "errors": check(graph, runner, before, steps, context, count)}
    result["worst_rel_l2"] = max(entry["rel_l2"] for entry in result["errors"].values())
    runner(tokens, context)
    wall, device_us = measure(runner, tokens, context, device, samples, inner)
    result["wall_us"] = spread(wall)
    if device == "cuda":
        result["device_us"] = spread(device_us)
        result["kernels"], result["kernel_us"] = count_kernels(runner)
        result["launches"] = result["kernels"] if mode == "torch" else 1
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="written by onelaunch tasks dump")
    parser.add_argument("--modes", default="torch,torch-graph,torch-compile")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--samples", type=int, default=9)
    parser.add_argument("--inner", type=int, default=20, help="tokens a sample")
    parser.add_argument("--out", help="file for the JSON result; standard output when absent")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("torch sees no GPU: " + torch.__version__ + " may be built without CUDA")
    with open(os.path.join(options.folder, "graph.json")) as file:
        description = json.load(file)
    result = {"torch": torch.__version__, "cuda": torch.version.cuda, "task": description["task"], "variant": description["variant"],
              "device": torch.cuda.get_device_name() if options.device == "cuda" else "cpu", "modes": []}
    with torch.no_grad():
        for mode in options.modes.split(","):
            if options.device == "cpu" and mode != "torch":
                sys.exit(f"the mode {mode} needs a GPU")
            try:
                result["modes"].append(run_mode(mode, description, options.folder, options.device, options.samples, options.inner))
            except Exception as problem:  # one mode that this PyTorch cannot run does not cost the others
                result["modes"].append({"mode": mode, "context": description["context"], "error": f"{type(problem).__name__}: {problem}"})
    text = json.dumps(result, indent=1)
    if options.out:
        with open(options.out, "w") as file:
            file.write(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
