import { compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { ownerOf } from "../../src/domain/owner.js";
import { silentLogger } from "../../src/platform/logger.js";
import { atOnce } from "../engines/at-once.js";
import { messageOf } from "../field/data.js";
import { openSession } from "../field/session-of-rounds.js";
import { inTurns, type Point } from "./in-turns.js";

const WRITE_BACK_MS = 120_000;
const owner = ownerOf("default", "guest");

/** What a whole turn costs beside the model in sessions of so many rounds, one of each, with long-term memory, until it is answered. */
export async function turnsBySize(
  dir: string,
  sizes: readonly number[],
  amount: { readonly operations: number; readonly warmUp: number },
  onStep: (done: number, total: number) => void,
): Promise<Point[]> {
  const config = parseConfig({ MEMORY_STORAGE_DIR: dir, EMBEDDING_PROVIDER: "hashing", RECALL_DEADLINE_MS: "10000" });
  const maitred = await compose(config, { model: atOnce, logger: silentLogger });
  const rest = async () => {
    if (!(await maitred.parts.worker.drain(WRITE_BACK_MS))) throw new Error("The write-back did not keep up.");
  };
  try {
    for (let n = 0; n < 20; n++) await maitred.memories.add(owner, { text: `Likes jazz at venue ${n}` }, { now: new Date() });
    const sessions = [];
    for (const size of sizes) sessions.push({ size, sessionId: await openSession(maitred.parts.store, owner, size) });
    const sized = sessions.map(({ size, sessionId }) => ({
      size,
      operation: async (n: number) => {
        const { memory } = await maitred.chat.chat({ owner, sessionId, message: messageOf(n) });
        if (memory.status !== "ok") throw new Error(`recall was ${memory.status}`);
      },
      rest,
    }));
    return await inTurns(sized, amount, onStep);
  } finally {
    await maitred.close({ drainMs: 0 });
  }
}
