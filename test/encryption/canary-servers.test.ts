import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { unpacked } from "../../src/state/engines/cosmos/stored-item.js";
import { startSwitchingProxy } from "../state/turns/switching-proxy.js";
import { CANARY, filesWith, tell } from "../support/a-life.js";
import { openChromaServer } from "../support/chroma-server.js";
import { needing } from "../support/needing.js";
import { everythingIn, openPlace, startIn } from "./everything.js";
import { type Server, STATE_SERVERS } from "./servers.js";

async function chroma(): Promise<Server> {
  const { url, dir, close } = await openChromaServer();
  return { url, variables: { CHROMA_URL: url, MEM0_PROVIDER: "chroma" }, dir, close };
}

const SERVERS = [...STATE_SERVERS, { program: "chroma", name: "Chroma, beside files", open: chroma } as const];

/** In which a text may be sent. */
const NEEDLES = [CANARY, CANARY.toLowerCase(), ...(["hex", "base64"] as const).map((as) => Buffer.from(CANARY).toString(as).slice(0, 16))];

/** What was sent, with what Cosmos DB's engine has packed. */
function textsIn(sent: readonly Buffer[]): readonly Buffer[] {
  const all = Buffer.concat(sent);
  const packed = [...all.toString("latin1").matchAll(/"packed":"([A-Za-z0-9+/=]+)"/g)].flatMap(([, text = ""]) => {
    try {
      return [Buffer.from(unpacked(text))];
    } catch {
      // What was sent over another connection lies between its halves.
      return [];
    }
  });
  return [all, ...packed];
}

for (const { program, name, open } of SERVERS)
  needing(program)(name, () => {
    test("[sealed-at-rest] after everything that two users can do it was sent no byte of what they said, and has none", async () => {
      const { base, dir } = await openPlace();
      const server = await open();
      const sent: Buffer[] = [];
      const { port } = new URL(server.url);
      const proxy = await startSwitchingProxy(Number(port), (bytes) => void sent.push(bytes));
      onTestFinished(async () => {
        await proxy.close();
        await server.close();
        await rm(base, { recursive: true, force: true });
      });
      const told = () => {
        const texts = textsIn(sent);
        return NEEDLES.filter((needle) => texts.some((text) => text.includes(needle)));
      };
      const through = Object.entries(server.variables).map(([key, value]) => [key, value.replace(`:${port}`, `:${proxy.port}`)]);
      const env = { ...Object.fromEntries(through), RECALL_DEADLINE_MS: "20000" };

      await everythingIn(base, ownerOf("default", "alice"), env);
      await everythingIn(base, ownerOf("acme", "bob"), env);
      expect(Buffer.concat(sent).length).toBeGreaterThan(100_000);
      expect(told()).toEqual([]);
      for (const folder of [dir, server.dir ?? dir]) expect(await filesWith(folder, CANARY)).toEqual([]);

      // What is looked for would be found: another installation there, without a key, sends it.
      const clear = await startIn(join(base, "clear"), { ...env, ...server.another, ENCRYPTION_KEY_FILE: "" });
      await tell(clear, ownerOf("default", "carol"), `I prefer ${CANARY}.`);
      expect(told()).toContain(CANARY);
    }, 300_000);
  });
