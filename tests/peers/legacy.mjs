// The SDK client of the era that opens with `initialize`.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { driveSession, serverCommand } from "./session.mjs";

const [program, folder, packages] = process.argv.slice(2);
const resolve = createRequire(`${packages}/`).resolve;
const load = (name) => import(pathToFileURL(resolve(name)));
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");

const client = new Client({ name: "peer", version: "1" });
await client.connect(new StdioClientTransport({ ...serverCommand(program, folder), stderr: "ignore", env: process.env }));
await client.ping();
await driveSession(client);
await client.close();
