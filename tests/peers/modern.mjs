// The SDK client of the stateless era; it must not fall back to the older one.
import assert from "node:assert";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { driveSession, serverCommand } from "./session.mjs";

const [program, folder, packages] = process.argv.slice(2);
const resolve = createRequire(`${packages}/`).resolve;
const load = (name) => import(pathToFileURL(resolve(name)));
const { Client } = await load("@modelcontextprotocol/client");
const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");

const client = new Client({ name: "peer", version: "1" }, { versionNegotiation: { mode: "auto" } });
const transport = new StdioClientTransport({ ...serverCommand(program, folder), stderr: "ignore", env: process.env });
const methods = [];
const send = transport.send.bind(transport);
transport.send = (message, ...rest) => {
  if (message.method) methods.push(message.method);
  return send(message, ...rest);
};
await client.connect(transport);
await driveSession(client);
await client.close();
assert(methods.includes("tools/call"), "its calls were not seen");
assert(!methods.includes("initialize"), "it fell back to the older era");
