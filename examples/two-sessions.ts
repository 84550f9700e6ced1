/**
 * Two sessions of one guest. The first says what the guest likes; the second, a new one, gets it without being told.
 * Then the same with long-term memory off. Runs without keys and servers: `npm run example`.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOrchestrator } from "maitred";

const said = "I prefer jazz concerts, and I usually book 2 tickets. I need step-free access.";
const asked = "Anything good this weekend?";

async function converse(mem0Enabled: boolean) {
  const dir = await mkdtemp(join(tmpdir(), "maitred-example-"));
  const maitred = await createOrchestrator({
    MEMORY_STORAGE_DIR: dir,
    MEM0_ENABLED: String(mem0Enabled),
    // Longer than by default, so that it ends alike on a machine that has much to do.
    RECALL_DEADLINE_MS: "5000",
    LOG_LEVEL: "warn",
  });
  try {
    const owner = await maitred.owner("ada");
    const first = await maitred.chat.chat({ owner, message: said });
    console.log(`\nFirst session\n  Guest:   ${said}\n  Maitred: ${first.message.content}`);
    await maitred.sessions.flush(owner, first.session_id, 10_000);

    const second = await maitred.chat.chat({ owner, message: asked });
    console.log(`\nSecond session\n  Guest:   ${asked}\n  Maitred: ${second.message.content.replaceAll("\n", "\n           ")}`);
    console.log(`  Memory:  ${second.memory.status}: ${second.memory.recalled.map((memory) => memory.text).join("; ") || "nothing"}`);
    return second;
  } finally {
    await maitred.close();
    await rm(dir, { recursive: true });
  }
}

console.log("With long-term memory");
const personal = await converse(true);
const recalled = personal.memory.recalled.map((memory) => memory.text).toSorted();
assert.equal(personal.memory.status, "ok");
assert.deepEqual(recalled, ["Needs step-free access", "Prefers jazz concerts", "Usually books 2 tickets"]);
assert.match(personal.message.content, /prefers jazz concerts; usually books 2 tickets/i);
assert.match(personal.message.content, /step-free/i);
assert.match(personal.message.content, /\b(2|two)\b/i);

console.log("\nWithout long-term memory (MEM0_ENABLED=false)");
const plain = await converse(false);
assert.equal(plain.memory.status, "disabled");
assert.deepEqual(plain.memory.recalled, []);
assert.doesNotMatch(plain.message.content, /you prefer|as you like/i);
console.log("\nBoth are as they should be.");
