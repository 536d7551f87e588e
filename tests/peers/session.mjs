// What every peer does: open a tiny session, look, change the candidate, have it judged, finish.
import assert from "node:assert";

export function serverCommand(program, folder) {
  return {
    command: program,
    args: ["mcp", "rmsnorm_linear", "--variant", "tiny", "--device", "emu", "--wall", "100s", "--out", `${folder}/run`, "--publish", `${folder}/published`],
  };
}

const textOf = (result) => result.content.map((block) => block.text).join("");

export async function driveSession(client) {
  const { tools } = await client.listTools();
  const names = tools.map((tool) => tool.name);
  for (const name of ["briefing", "evaluate", "wait_for_job", "finish"]) assert(names.includes(name), `no tool ${name}`);
  const call = async (name, args = {}) => {
    const result = await client.callTool({ name, arguments: args });
    assert(!result.isError, `${name}: ${textOf(result)}`);
    return textOf(result);
  };
  assert.match(await call("briefing"), /kernel/);
  assert.match(await call("read_kernel", { from: 1, to: 3 }), /lines 1 to 3/);
  const unknown = await client.callTool({ name: "no_such_tool", arguments: {} });
  assert.equal(unknown.isError, true);
  let judged = await call("evaluate", { note: "wider blocks", defines: ["BLOCK=256"] });
  for (let job = judged.match(/as (job\d+)\./); job; job = judged.match(/as (job\d+)\./)) judged = await call("wait_for_job", { job: job[1] });
  assert.match(judged, /c1/);
  await call("finish", { reason: "enough" });
}
