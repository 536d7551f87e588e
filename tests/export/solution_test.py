#!/usr/bin/env python3
"""Checks all of an exported solution.py that needs no GPU: names, states, argument words, preparing. The driver is a fake
that writes down what it is asked for; tensors are on the CPU.

    python3 tests/export/solution_test.py solution.py     (of the variant tiny; needs torch)
"""
import copy
import ctypes
import importlib.util
import io
import os
import sys
import unittest

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import torch_reference as reference

spec = importlib.util.spec_from_file_location("solution", sys.argv.pop(1))
solution = importlib.util.module_from_spec(spec)
spec.loader.exec_module(solution)
CFG = reference.TINY
ARGS = solution._DESCRIPTION["args"]


class FakeDriver:
    """Records launches: (name, the argument words at that time)."""
    multiprocessors = 132
    launches = []

    def __init__(self, device):
        self.context_lost = False

    def check(self, code, what):
        if code:
            raise RuntimeError(f"{what}: {code}")

    def make_current(self):
        self.context_lost = False

    def load(self, image):
        assert image[:4] == b"\x7fELF", image[:4]
        return "module"

    def function(self, module, name, shared, cluster):
        return name

    def launcher(self, config, function, parameters):
        def call():
            if self.context_lost:
                return solution._INVALID_CONTEXT
            words = ARGS["words"] if function == "megakernel" else solution._DESCRIPTION["prepare_args"]["words"]
            values = list((ctypes.c_uint64 * words).from_address(parameters[0]))
            cooperative = any(config.attributes[i].id == 2 and config.attributes[i].value[0] == 1 for i in range(config.count))
            FakeDriver.launches.append((function, values, cooperative, tuple(config.grid)))
            return 0
        return call

    def stream(self):
        return 0


solution._Driver = FakeDriver


def words_of(launch):
    return lambda name: launch[1][ARGS["pointers"].get(name, ARGS.get(name))]


class Solution(unittest.TestCase):
    def setUp(self):
        FakeDriver.launches = []
        self.reference = reference.Model(CFG).draw(1)
        self.model = solution.Model(CFG).eval()
        self.model.load_state_dict(self.reference.state_dict(), strict=True)

    def state(self, rows=32):
        return reference.first_state(CFG, rows, 3, "cpu")

    def megakernels(self):
        return [launch for launch in FakeDriver.launches if launch[0] == "megakernel"]

    def prepares(self):
        return [launch for launch in FakeDriver.launches if launch[0] != "megakernel"]

    def test_has_the_boards_names_and_shapes(self):
        mine = {name: (tensor.dtype, tuple(tensor.shape)) for name, tensor in self.model.state_dict().items()}
        theirs = {name: (tensor.dtype, tuple(tensor.shape)) for name, tensor in self.reference.state_dict().items()}
        self.assertEqual(mine, theirs)
        for name in ("blocks.0.attn.q_proj.w_q", "blocks.2.attn.conv_w", "blocks.0.attn.beta_proj.weight", "blocks.3.attn.kv_a.scales",
                     "blocks.3.attn.kv_b.zeros", "blocks.1.moe.router.weight", "blocks.0.moe.s_down.w_q", "blocks.0.attn_norm"):
            self.assertIn(name, mine)

    def test_every_tensor_of_the_task_has_its_address(self):
        state = self.state()
        hidden = reference.token(CFG, 1, "cpu")
        output, returned = self.model.step(hidden, state)
        self.assertIs(returned, state)
        word = words_of(self.megakernels()[0])
        weights = self.model.named_weights()
        named = {tensor["name"] for tensor in solution._DESCRIPTION["tensors"] if tensor["role"] == "weight"}
        self.assertEqual(set(weights), named)
        sizes = {tensor["name"]: tensor["shape"] for tensor in solution._DESCRIPTION["tensors"]}
        for name, tensor in weights.items():
            self.assertEqual(word(name), tensor.data_ptr(), name)
            self.assertTrue(tensor.is_contiguous(), name)
            count = 1
            for extent in sizes[name]:
                count *= extent
            self.assertEqual(tensor.numel(), count, name)
        self.assertEqual(word("kda.1.S"), state[1]["S"].data_ptr())
        self.assertEqual(word("kda.2.window_k"), state[2]["ck"].data_ptr())
        self.assertEqual(word("mla.0.c_kv"), state[3]["c_kv"].data_ptr())
        self.assertEqual(word("token"), hidden.data_ptr())
        self.assertEqual(word("hidden_out"), output.data_ptr())
        self.assertTrue(self.megakernels()[0][2], "the launch is cooperative")

    def test_positions_epochs_and_rows_go_up_by_one(self):
        state = self.state(32)
        outputs = [self.model.step(reference.token(CFG, step, "cpu"), state)[0] for step in range(5)]
        launches = self.megakernels()
        self.assertEqual([words_of(launch)("position") for launch in launches], [32, 33, 34, 35, 36])
        self.assertEqual([words_of(launch)("epoch") for launch in launches], [0, 1, 2, 3, 4])
        self.assertEqual(state[3]["c_kv"].shape, (37, CFG.kv_lora))
        self.assertEqual(state[3]["k_rope"].shape, (37, CFG.qk_rope))
        self.assertEqual(len({output.data_ptr() for output in outputs}), 5, "each step has its own result")
        self.assertEqual(len({words_of(launch)("mla.0.c_kv") for launch in launches}), 1, "nothing is copied between steps")

    def test_what_was_cached_is_taken_over_and_kept_when_the_room_is_used_up(self):
        state = self.state(32)
        before = copy.deepcopy(state)
        for step in range(1300):
            self.model.step(reference.token(CFG, 0, "cpu"), state)
        self.assertEqual(state[3]["c_kv"].shape[0], 1332)
        self.assertTrue(torch.equal(state[3]["c_kv"][:32], before[3]["c_kv"]))
        self.assertTrue(torch.equal(state[3]["k_rope"][:32], before[3]["k_rope"]))
        for launch in self.megakernels():
            word = words_of(launch)
            self.assertLess(word("position"), word("cache_capacity"))
        self.assertEqual(len({words_of(launch)("mla.0.c_kv") for launch in self.megakernels()}), 2)

    def test_the_callers_own_tensors_are_left_alone(self):
        state = self.state()
        theirs = state[0]["S"]
        self.model.step(reference.token(CFG, 0, "cpu"), state)
        self.assertIsNot(state[0]["S"], theirs)
        self.assertTrue(torch.equal(state[0]["S"], theirs), "the fake launch changes nothing")

    def test_copies_of_a_state_go_on_apart(self):
        state = self.state()
        self.model.step(reference.token(CFG, 0, "cpu"), state)
        fork = [dict(layer) for layer in state]
        deep = copy.deepcopy(state)
        for each in (state, fork, deep, state, fork, deep):
            self.model.step(reference.token(CFG, 0, "cpu"), each)
        launches = self.megakernels()[1:]
        self.assertEqual([words_of(launch)("position") for launch in launches], [33, 33, 33, 34, 34, 34])
        self.assertEqual(len({words_of(launch)("kda.0.S") for launch in launches}), 3)
        self.assertEqual([words_of(launch)("epoch") for launch in launches], [1, 2, 3, 4, 5, 6])

    def test_a_replaced_tensor_is_taken_over(self):
        state = self.state()
        self.model.step(reference.token(CFG, 0, "cpu"), state)
        state[1]["S"] = torch.full_like(state[1]["S"], 3.0)
        state[3] = {key: tensor[:10] for key, tensor in state[3].items()}
        self.model.step(reference.token(CFG, 0, "cpu"), state)
        self.assertTrue(torch.equal(state[1]["S"], torch.full_like(state[1]["S"], 3.0)))
        word = words_of(self.megakernels()[-1])
        self.assertEqual(word("position"), 10)
        self.assertEqual(word("kda.1.S"), state[1]["S"].data_ptr())

    def test_weights_are_prepared_once_and_again_when_they_change(self):
        state, hidden = self.state(), reference.token(CFG, 0, "cpu")
        rounds = max(1, len(solution._DESCRIPTION["prepares"]))
        if not solution._DESCRIPTION["prepares"]:
            self.skipTest("this kernel prepares nothing")
        for _ in range(3):
            self.model.step(hidden, state)
        self.assertEqual(len(self.prepares()), rounds)
        with torch.no_grad():
            self.model.blocks[0].moe.router.weight.mul_(2)
        self.model.step(hidden, state)
        self.assertEqual(len(self.prepares()), 2 * rounds, "a parameter changed in place")
        self.model.blocks[3].attn.kv_b.scales.mul_(2)
        self.model.step(hidden, state)
        self.assertEqual(len(self.prepares()), 3 * rounds, "a buffer changed in place")
        self.model.blocks[0].attn.q_proj.w_q = self.model.blocks[0].attn.q_proj.w_q.clone()
        self.model.step(hidden, state)
        self.assertEqual(len(self.prepares()), 4 * rounds, "a tensor was replaced")
        self.assertEqual(words_of(self.megakernels()[-1])("kda.0.q.packed"), self.model.blocks[0].attn.q_proj.w_q.data_ptr())
        self.model.load_state_dict(self.reference.state_dict(), strict=True)
        self.model.step(hidden, state)
        self.assertEqual(len(self.prepares()), 5 * rounds, "a state dict was loaded")
        for launch in self.prepares():
            self.assertFalse(launch[2], "prepare kernels are not cooperative")

    def test_copies_and_pickles_of_the_model_work(self):
        state, hidden = self.state(), reference.token(CFG, 0, "cpu")
        self.model.step(hidden, state)
        twin = copy.deepcopy(self.model)
        twin.step(hidden, self.state())
        address = twin.blocks[0].attn.q_proj.w_q.data_ptr()
        self.assertNotEqual(address, self.model.blocks[0].attn.q_proj.w_q.data_ptr())
        self.assertEqual(words_of(self.megakernels()[-1])("kda.0.q.packed"), address)
        saved = io.BytesIO()
        torch.save(state, saved)

    def test_another_threads_context_is_made_current(self):
        state, hidden = self.state(), reference.token(CFG, 0, "cpu")
        self.model.step(hidden, state)
        self.model._kernel.driver.context_lost = True
        self.model.step(hidden, state)
        self.assertEqual(len(self.megakernels()), 2)

    def test_what_does_not_fit_is_refused_with_words(self):
        state = self.state()
        state[0]["S"] = state[0]["S"].to(torch.bfloat16)
        with self.assertRaisesRegex(ValueError, "state's S is torch.bfloat16"):
            self.model.step(reference.token(CFG, 0, "cpu"), state)
        with self.assertRaisesRegex(ValueError, "built for hidden = 256"):
            solution.Model(reference.Config())
        with self.assertRaisesRegex(ValueError, "layers, not 4"):
            self.model.step(reference.token(CFG, 0, "cpu"), self.state()[:3])
        with self.assertRaisesRegex(ValueError, "hidden is"):
            self.model.step(torch.zeros(3), self.state())

    def test_a_token_of_another_form_is_converted(self):
        state = self.state()
        output, _ = self.model.step(reference.token(CFG, 0, "cpu").float().reshape(1, -1), state)
        self.assertEqual((output.dtype, tuple(output.shape)), (torch.bfloat16, (CFG.hidden,)))


if __name__ == "__main__":
    unittest.main()
