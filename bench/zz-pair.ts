import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compose } from "../src/compose/compose.js";
import { parseConfig } from "../src/compose/config.js";
import { statementSchema } from "../src/domain/memory.js";
import { ownerOf } from "../src/domain/owner.js";
import { atOnce } from "./engines/at-once.js";
import { median, quantile } from "./quantile.js";

const [turns = 300, memories = 20] = process.argv.slice(2).map(Number);
const dir = await mkdtemp(join(tmpdir(), "pair-"));
const key = join(dir, "master.key");
await writeFile(key, randomBytes(32).toString("base64"));
const owner = ownerOf("default", "guest-1");
const KINDS = ["jazz", "opera", "folk", "ballet", "theatre", "football", "tapas", "ramen"];
async function open(name: string, variables: Record<string, string>) {
  const m = await compose(
    parseConfig({ MEMORY_STORAGE_DIR: join(dir, name), EMBEDDING_PROVIDER: "hashing", RECALL_DEADLINE_MS: "10000", ...variables }),
    { model: atOnce },
  );
  for (let n = 0; n < memories; n++)
    await m.memories.add(owner, statementSchema.parse({ text: `Likes ${KINDS[n % KINDS.length]} at venue ${n}`, category: "other", aspect: `venue ${n}` }), { now: new Date() });
  return { name, m, session: undefined as string | undefined, turn: [] as number[], whole: [] as number[], cpu: [] as number[], wcpu: [] as number[], win: [] as number[] };
}
const each = process.env.ONLY === "enc" ? [await open("enc", { ENCRYPTION_KEY_FILE: key })]
  : process.env.ONLY === "clear" ? [await open("clear", {})]
  : [await open("clear", {}), await open("enc", { ENCRYPTION_KEY_FILE: key })];
const cpu = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
async function step(x: (typeof each)[number], n: number, count: boolean) {
  const c0 = cpu(); const t0 = performance.now();
  const a = await x.m.chat.chat({ owner, message: `Is there any ${KINDS[n % KINDS.length]} in the old town on the next free day, number ${n}?`, ...(x.session && { sessionId: x.session }) });
  const t1 = performance.now(); const c1 = cpu();
  x.session = a.session_id;
  await x.m.parts.worker.drain(60_000);
  const t2 = performance.now(); const c2 = cpu();
  await x.m.parts.store.journal.window(owner, a.session_id, { rounds: 10 });
  const t3 = performance.now();
  if (!count) return;
  x.turn.push(t1 - t0); x.whole.push(t2 - t0); x.cpu.push(c1 - c0); x.wcpu.push(c2 - c0); x.win.push(t3 - t2);
}
for (let n = 0; n < 60; n++) for (const x of each) await step(x, n, false);
(globalThis as any).__n?.clear();
for (let n = 0; n < turns; n++) for (const x of n % 2 ? [...each].reverse() : each) await step(x, n, true);
const [a, b] = each;
for (const k of ["turn", "whole", "cpu", "wcpu", "win"] as const) {
  const line = each.map((x) => `${x.name} ${median(x[k]).toFixed(3)} (p25 ${quantile(x[k], 0.25).toFixed(3)} mean ${(x[k].reduce((s, v) => s + v, 0) / turns).toFixed(3)})`).join("  ");
  const ratio = a && b ? ` median of pairs ${median(b[k].map((v, i) => v / (a[k][i] ?? 1))).toFixed(3)} medians ${(median(b[k]) / median(a[k])).toFixed(3)} p25 ${(quantile(b[k], 0.25) / quantile(a[k], 0.25)).toFixed(3)} p10 ${(quantile(b[k], 0.1) / quantile(a[k], 0.1)).toFixed(3)} mean ${(b[k].reduce((s, v) => s + v, 0) / a[k].reduce((s, v) => s + v, 0)).toFixed(3)}` : "";
  console.log(k.padEnd(6), line, ratio);
}
console.log([...((globalThis as any).__n ?? [])].sort((p: any, q: any) => q[1][0] - p[1][0]).map(([k, v]: any) => `${(v[0] / turns).toFixed(2)} x ${(v[1] / v[0]).toFixed(0)} ${JSON.stringify(k)}`).join("\n"));
for (const x of each) await x.m.close({ drainMs: 0 });
await rm(dir, { recursive: true });
