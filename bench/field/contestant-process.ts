import { type ChildProcess, fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { About, Setting, Workload } from "./contestant.js";
import type { Entrant } from "./contestants.js";
import type { Candidate, Running, Slice } from "./field.js";
import { type NodeProgram, thisNode } from "./node-programs.js";

/** What the two processes say to each other: one answer to each request. */
export type Request =
  | { readonly ask: "prepare"; readonly workload: Workload; readonly setting: Setting }
  | { readonly ask: "measure"; readonly from: number; readonly most: number; readonly ms: number }
  | { readonly ask: "close" };
export type Answer = { readonly prepared: About } | { readonly measured: Slice } | { readonly closed: true } | { readonly failed: string };

type Ask = (request: Request) => Promise<Answer>;

const PROGRAM = fileURLToPath(new URL("./run-contestant.ts", import.meta.url));

/** A contestant in a process of its own, on a Node that its packages allow. */
export function candidateOf({ name, module, workloads, node: least = 0 }: Entrant, nodes: readonly NodeProgram[]): Candidate {
  const node = nodes.find(({ major }) => major >= least);
  let opened: { readonly ask: Ask; readonly child: ChildProcess } | null = null;
  const open = () => {
    if (opened === null || !opened.child.connected) opened = processOf(module, node ?? thisNode);
    return opened.ask;
  };
  return {
    name: node === undefined || node === thisNode ? name : `${name} (Node ${node.major})`,
    workloads,
    ...(node === undefined && { missing: `needs Node ${least}: none by NODE24 or on the PATH` }),
    start: (workload, setting) => start(open(), workload, setting),
    close: async () => void opened?.child.kill(),
  };
}

async function start(ask: Ask, workload: Workload, setting: Omit<Setting, "dir">): Promise<Running> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-bench-field-"));
  const close = async () => {
    await ask({ ask: "close" }).catch(() => undefined);
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const answer = await ask({ ask: "prepare", workload, setting: { ...setting, dir } });
    if (!("prepared" in answer)) throw new Error("it was not prepared");
    const measure: Running["measure"] = async (from, amount) => {
      const measured = await ask({ ask: "measure", from, ...amount });
      if (!("measured" in measured)) throw new Error("nothing was measured");
      return measured.measured;
    };
    return { about: answer.prepared, measure, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function processOf(module: string, { path }: NodeProgram): { readonly ask: Ask; readonly child: ChildProcess } {
  const child = fork(PROGRAM, [module], {
    execPath: path,
    execArgv: ["--import", import.meta.resolve("tsx")],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: { ...process.env, MASTRA_TELEMETRY_DISABLED: "1", NODE_ENV: "production" },
  });
  return { child, ask: asking(child) };
}

/** @throws with what the process said, when it fails or ends instead of answering */
function asking(child: ChildProcess): Ask {
  let said = "";
  child.stderr?.on("data", (chunk) => {
    said = `${said}${chunk}`.slice(-2_000);
  });
  return (request) =>
    new Promise((resolve, reject) => {
      const settle = (done: () => void) => {
        child.off("message", onAnswer);
        child.off("exit", onExit);
        done();
      };
      const onAnswer = (answer: Answer) => settle(() => ("failed" in answer ? reject(new Error(answer.failed)) : resolve(answer)));
      const onExit = () => settle(() => reject(new Error(`its process ended: ${said.trim().split("\n").at(-1) ?? ""}`)));
      if (!child.connected) return reject(new Error("its process has ended"));
      child.on("message", onAnswer);
      child.on("exit", onExit);
      child.send(request);
    });
}
