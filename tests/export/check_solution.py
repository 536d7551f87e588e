#!/usr/bin/env python3
"""Checks an exported solution.py on a GPU against torch_reference.py.

    onelaunch export kernel.cu --task kimi_linear_decode --format torch --out solution.py
    python3 tests/export/check_solution.py solution.py

Loads the reference's weights (strict), compares outputs and states over seeds and contexts for several steps, in new and in
continued states, with changed weights; measures what step() costs on the host; counts kernels a step. Exit status 1 when
anything is not as it has to be.
"""
import argparse
import copy
import importlib.util
import os
import statistics
import sys
import time

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import torch_reference as reference

COSINE, ENQUEUE_US = 0.999, 10.0
failures = []


def expect(condition, text):
    print(("ok    " if condition else "WRONG ") + text, flush=True)
    if not condition:
        failures.append(text)


def load_module(path):
    spec = importlib.util.spec_from_file_location("solution", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cosine(a, b):
    a, b = a.double().flatten(), b.double().flatten()
    return (a @ b / (a.norm() * b.norm())).item()


def compare(cfg, want_model, got_model, context, seed, steps, label):
    want_state = reference.first_state(cfg, context, seed, "cuda")
    got_state = copy.deepcopy(want_state)
    worst, worst_state = 1.0, 1.0
    for step in range(steps):
        hidden = reference.token(cfg, 100 * seed + step, "cuda")
        want, _ = want_model.step(hidden.clone(), want_state)
        got, returned = got_model.step(hidden.clone(), got_state)
        if returned is not got_state or not torch.isfinite(got).all() or got.shape != want.shape:
            expect(False, f"{label}: the result of step {step} is not finite or of another form")
            return
        worst = min(worst, cosine(want, got))
        for mine, theirs in zip(want_state, got_state):
            for key, tensor in mine.items():
                if tensor.shape != theirs[key].shape or tensor.dtype != theirs[key].dtype:
                    expect(False, f"{label}: {key} is {theirs[key].dtype} {tuple(theirs[key].shape)}, not {tensor.dtype} {tuple(tensor.shape)}")
                    return
                worst_state = min(worst_state, cosine(tensor, theirs[key]))
    expect(worst >= COSINE, f"{label}: output cosine {worst:.6f}")
    expect(worst_state >= COSINE, f"{label}: state cosine {worst_state:.6f}")


def check_forks(cfg, model):
    """Two continuations of one state do not disturb each other."""
    state = reference.first_state(cfg, 64, 5, "cuda")
    hidden = reference.token(cfg, 5, "cuda")
    model.step(hidden, state)
    one, two = [dict(layer) for layer in state], [dict(layer) for layer in state]
    first, _ = model.step(hidden, one)
    second, _ = model.step(hidden, two)
    expect(cosine(first, second) > 0.999999, "a copy of a state's dicts goes on by itself")
    expect(two[-1]["c_kv"].shape[0] == 66 and state[-1]["c_kv"].shape[0] == 65, "each copy has its own rows")


def enqueue_us(cfg, model, context):
    state = reference.first_state(cfg, context, 1, "cuda")
    hidden = reference.token(cfg, 1, "cuda")
    model.step(hidden, state)
    samples = []
    for _ in range(15):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(50):
            model.step(hidden, state)
        samples.append((time.perf_counter() - begin) * 1e6 / 50)
        torch.cuda.synchronize()
    return statistics.median(samples)


def device_us(cfg, model, context, steps=32):
    state = reference.first_state(cfg, context, 1, "cuda")
    hidden = reference.token(cfg, 1, "cuda")
    model.step(hidden, state)
    samples = []
    for _ in range(7):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(steps):
            model.step(hidden, state)
        end.record()
        torch.cuda.synchronize()
        samples.append(begin.elapsed_time(end) * 1e3 / steps)
    return statistics.median(samples)


def count_kernels(cfg, model, steps):
    from torch.profiler import ProfilerActivity, profile
    state = reference.first_state(cfg, 128, 2, "cuda")
    hidden = reference.token(cfg, 2, "cuda")
    model.step(hidden, state)
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        for _ in range(steps):
            model.step(hidden, state)
        torch.cuda.synchronize()
    return [event.name for event in profiler.events() if str(event.device_type).endswith("CUDA")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("solution")
    parser.add_argument("--variant", default="full", choices=["full", "tiny"])
    parser.add_argument("--contexts", default="", help="default 2048,8192 (tiny: 32,96)")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--steps", type=int, default=3)
    options = parser.parse_args()
    cfg = reference.TINY if options.variant == "tiny" else reference.Config()
    contexts = [int(text) for text in (options.contexts or ("32,96" if options.variant == "tiny" else "2048,8192")).split(",")]
    solution = load_module(options.solution)
    print(torch.__version__, torch.cuda.get_device_name())
    with torch.no_grad():
        want = reference.Model(cfg).to("cuda").eval().draw(1234)
        got = solution.Model(cfg).to("cuda").eval()
        print("loading:", got.load_state_dict(want.state_dict(), strict=True))
        for seed in (int(text) for text in options.seeds.split(",")):
            for context in contexts:
                compare(cfg, want, got, context, seed, options.steps, f"seed {seed}, context {context}")
        want.blocks[1].moe.router.weight.mul_(-1)
        got.blocks[1].moe.router.weight.mul_(-1)
        compare(cfg, want, got, contexts[0], 7, 2, "a weight changed in place")
        want.draw(99)
        got.load_state_dict(want.state_dict(), strict=True)
        compare(cfg, want, got, contexts[0], 8, 2, "other weights loaded")
        check_forks(cfg, got)
        us = enqueue_us(cfg, got, contexts[0])
        expect(us < ENQUEUE_US, f"step() costs {us:.2f} us on the host")
        names = count_kernels(cfg, got, 10)
        expect(len(names) == 10 and len(set(names)) == 1, f"10 steps are {len(names)} device activities: {sorted(set(names))}")
        for context in contexts:
            print(f"      {device_us(cfg, got, context):.2f} us a token on the device at {context}, one weight set")
    print("FAILED: " + "; ".join(failures) if failures else "passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
