"""Kimi-Linear's motif of four layers in straightforward PyTorch: what an exported solution.py has to agree with.

The same module names, shapes and step(hidden, state) as the exported Model. Weights are dequantised to whole matrices and
everything is summed in f32; the MLA keys and values are materialised. Written for being read, not for speed.
"""
import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

EPS, THETA, ROUTED_SCALE, GROUP = 1e-6, 10000.0, 2.446, 128


@dataclass(frozen=True)
class Config:
    hidden: int = 2304
    kda_heads: int = 32
    kda_head_dim: int = 128
    short_conv: int = 4
    mla_heads: int = 32
    kv_lora: int = 512
    qk_nope: int = 128
    qk_rope: int = 64
    v_head: int = 128
    n_experts: int = 64
    n_active: int = 8
    n_shared: int = 1
    moe_inter: int = 1024
    group: int = GROUP
    pattern: tuple = ("K", "K", "K", "M")


TINY = Config(hidden=256, kda_heads=2, mla_heads=2, kv_lora=128, n_experts=8, n_active=2, moe_inter=128)


def quantise(weight):
    """(..., in, out) f32 to packed nibbles, scales and zeros, in groups of 128 rows."""
    *lead, rows, columns = weight.shape
    grouped = weight.reshape(*lead, rows // GROUP, GROUP, columns)
    low, high = grouped.amin(-2, keepdim=True), grouped.amax(-2, keepdim=True)
    scale = (high - low).clamp_min(1e-8) / 15
    zero = (-low / scale).round().clamp(0, 15)
    q = (grouped / scale + zero).round().clamp(0, 15).to(torch.uint8).reshape(*lead, rows, columns)
    packed = q[..., 0::2, :] | (q[..., 1::2, :] << 4)
    return packed.contiguous(), scale.squeeze(-2).to(torch.bfloat16), zero.squeeze(-2).to(torch.bfloat16)


def dequantise(packed, scales, zeros):
    nibbles = torch.stack((packed & 15, packed >> 4), dim=1).reshape(2 * packed.shape[0], -1).to(torch.bfloat16)
    return (nibbles - zeros.repeat_interleave(GROUP, 0)) * scales.repeat_interleave(GROUP, 0)


class Int4(nn.Module):
    def __init__(self, rows, columns, experts=None):
        super().__init__()
        lead = () if experts is None else (experts,)
        self.shape = (*lead, rows, columns)
        self.register_buffer("w_q", torch.zeros(*lead, rows // 2, columns, dtype=torch.uint8))
        self.register_buffer("scales", torch.zeros(*lead, rows // GROUP, columns, dtype=torch.bfloat16))
        self.register_buffer("zeros", torch.zeros(*lead, rows // GROUP, columns, dtype=torch.bfloat16))

    def draw(self, generator):
        device = self.w_q.device
        for index in range(self.shape[0]) if len(self.shape) == 3 else [slice(None)]:
            weight = torch.randn(self.shape[-2:], generator=generator, device=device) * 0.02
            self.w_q[index], self.scales[index], self.zeros[index] = quantise(weight)

    def matrix(self, expert=None):
        parts = (self.w_q, self.scales, self.zeros)
        return dequantise(*(parts if expert is None else (part[expert] for part in parts))).float()

    def forward(self, x):
        return (x.float() @ self.matrix()).to(torch.bfloat16)


class Linear(nn.Module):
    def __init__(self, rows, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(columns, rows, dtype=torch.bfloat16), requires_grad=False)

    def forward(self, x):
        return (self.weight.float() @ x.float()).to(torch.bfloat16)


def norm(x, weight):
    return (x.float() * torch.rsqrt(x.float().pow(2).mean() + EPS) * weight.float()).to(torch.bfloat16)


def rotate(x, position):
    half = torch.arange(0, x.shape[-1], 2, device=x.device, dtype=torch.float64) / x.shape[-1]
    angle = position * THETA ** -half
    cos, sin = angle.cos().float(), angle.sin().float()
    even, odd = x[..., 0::2].float(), x[..., 1::2].float()
    return torch.stack((even * cos - odd * sin, odd * cos + even * sin), -1).flatten(-2).to(torch.bfloat16)


class Kda(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads, self.width = cfg.kda_heads, cfg.kda_heads * cfg.kda_head_dim
        for name in ("q_proj", "k_proj", "v_proj", "g_proj"):
            setattr(self, name, Int4(cfg.hidden, self.width))
        self.beta_proj = Linear(cfg.hidden, cfg.kda_heads)
        self.conv_w = nn.Parameter(torch.zeros(3, self.width, cfg.short_conv, dtype=torch.bfloat16), requires_grad=False)
        self.o_proj = Int4(self.width, cfg.hidden)

    def convolve(self, x, layer, key, index):
        taps = torch.cat((layer[key], x[None]))
        layer[key] = taps[1:].clone()
        y = F.silu((taps.float() * self.conv_w[index].float().t()).sum(0)).to(torch.bfloat16)
        return y.float().reshape(self.heads, -1)

    def forward(self, x, layer):
        query = self.convolve(self.q_proj(x), layer, "cq", 0)
        key = self.convolve(self.k_proj(x), layer, "ck", 1)
        value = self.convolve(self.v_proj(x), layer, "cv", 2)
        decay = torch.exp(-F.softplus(self.g_proj(x).float())).reshape(self.heads, -1, 1)
        beta = torch.sigmoid(self.beta_proj(x).float())[:, None]
        state = layer["S"] * decay
        error = beta * (value - torch.einsum("hkv,hk->hv", state, key))
        state = state + torch.einsum("hk,hv->hkv", key, error)
        layer["S"] = state
        out = torch.einsum("hkv,hk->hv", state, query) / math.sqrt(query.shape[1])
        return self.o_proj(out.flatten().to(torch.bfloat16))


class Mla(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads, self.nope, self.latent = cfg.mla_heads, cfg.qk_nope, cfg.kv_lora
        self.q_proj = Int4(cfg.hidden, cfg.mla_heads * (cfg.qk_nope + cfg.qk_rope))
        self.kv_a = Int4(cfg.hidden, cfg.kv_lora + cfg.qk_rope)
        self.kv_b = Int4(cfg.kv_lora, cfg.mla_heads * (cfg.qk_nope + cfg.v_head))
        self.o_proj = Int4(cfg.mla_heads * cfg.v_head, cfg.hidden)

    def forward(self, x, layer):
        position = layer["c_kv"].shape[0]
        query = self.q_proj(x).reshape(self.heads, -1)
        turned = rotate(query[:, self.nope:], position)
        new = self.kv_a(x)
        layer["c_kv"] = torch.cat((layer["c_kv"], new[None, :self.latent]))
        layer["k_rope"] = torch.cat((layer["k_rope"], rotate(new[self.latent:], position)[None]))
        both = (layer["c_kv"].float() @ self.kv_b.matrix()).reshape(position + 1, self.heads, -1)
        keys, values = both[..., :self.nope], both[..., self.nope:]
        scores = torch.einsum("hd,rhd->hr", query[:, :self.nope].float(), keys) + turned.float() @ layer["k_rope"].float().t()
        weights = torch.softmax(scores / math.sqrt(query.shape[1]), -1)
        return self.o_proj(torch.einsum("hr,rhd->hd", weights, values).flatten().to(torch.bfloat16))


class Moe(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.active = cfg.n_active
        self.router = Linear(cfg.hidden, cfg.n_experts)
        for lead, experts in (("", cfg.n_experts), ("s_", 1)):
            setattr(self, lead + "gate", Int4(cfg.hidden, cfg.moe_inter, experts))
            setattr(self, lead + "up", Int4(cfg.hidden, cfg.moe_inter, experts))
            setattr(self, lead + "down", Int4(cfg.moe_inter, cfg.hidden, experts))

    def expert(self, x, lead, index):
        gate, up, down = (getattr(self, lead + name).matrix(index) for name in ("gate", "up", "down"))
        return (F.silu(x.float() @ gate) * (x.float() @ up)) @ down

    def forward(self, x):
        chances, ids = torch.softmax(self.router(x).float(), -1).topk(self.active)
        weights = chances / (chances.sum() + 1e-9) * ROUTED_SCALE
        mixed = sum(weight * self.expert(x, "", index) for weight, index in zip(weights, ids.tolist()))
        return (mixed + self.expert(x, "s_", 0)).to(torch.bfloat16)


class Block(nn.Module):
    def __init__(self, cfg, kind):
        super().__init__()
        self.attn_norm = nn.Parameter(torch.ones(cfg.hidden, dtype=torch.bfloat16), requires_grad=False)
        self.moe_norm = nn.Parameter(torch.ones(cfg.hidden, dtype=torch.bfloat16), requires_grad=False)
        self.attn = Kda(cfg) if kind == "K" else Mla(cfg)
        self.moe = Moe(cfg)


class Model(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.blocks = nn.ModuleList(Block(cfg, kind) for kind in cfg.pattern)

    def draw(self, seed):
        """Random weights of the sizes that the public board uses."""
        generator = torch.Generator(device=self.blocks[0].attn_norm.device).manual_seed(seed)
        for part in self.modules():
            if isinstance(part, Int4):
                part.draw(generator)
            elif isinstance(part, Linear):
                part.weight.normal_(0, 0.02, generator=generator)
            elif isinstance(part, Kda):
                part.conv_w.normal_(0, 0.1, generator=generator)
        return self

    def step(self, hidden, state):
        for block, layer in zip(self.blocks, state):
            hidden = hidden + block.attn(norm(hidden, block.attn_norm), layer)
            hidden = hidden + block.moe(norm(hidden, block.moe_norm))
        return hidden, state


def first_state(cfg, context, seed, device):
    generator = torch.Generator(device=device).manual_seed(seed)

    def normal(*shape, scale, dtype=torch.bfloat16):
        return (torch.randn(*shape, generator=generator, device=device) * scale).to(dtype)

    width = cfg.kda_heads * cfg.kda_head_dim
    state = [{"S": normal(cfg.kda_heads, cfg.kda_head_dim, cfg.kda_head_dim, scale=0.05, dtype=torch.float32),
              **{key: normal(cfg.short_conv - 1, width, scale=0.1) for key in ("cq", "ck", "cv")}}
             for kind in cfg.pattern if kind == "K"]
    return state + [{"c_kv": normal(context, cfg.kv_lora, scale=0.1), "k_rope": normal(context, cfg.qk_rope, scale=0.1)}]


def token(cfg, seed, device):
    generator = torch.Generator(device=device).manual_seed(seed + 1)
    return (torch.randn(cfg.hidden, generator=generator, device=device) * 0.25).to(torch.bfloat16)
