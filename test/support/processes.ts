import type { StateEngine } from "../../src/state/engine.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import type { TestClock } from "./session-world.js";

type Call = "read" | "commit" | "partitions" | "due" | "erase";
type Args<C extends Call> = Parameters<StateEngine[C]>;

/** One process's way to an engine that it shares with others. */
export interface EngineOfProcess {
  readonly engine: StateEngine;
  /** At the first call that this is true of, the process stops: none of its calls comes through until it goes on. */
  stopAt<C extends Call>(call: C, is: (...args: Args<C>) => boolean): { readonly stopped: Promise<void>; goOn(): void };
  /** As if it were killed: none of its calls comes through any more. */
  kill(): void;
}

/** An engine in memory, as several processes have one; its leases end by this clock alone. */
export function sharedEngine(clock: TestClock): { process(): EngineOfProcess } {
  const engine = new MemoryEngine({ clock });
  return { process: () => processOn(engine) };
}

function processOn(shared: StateEngine): EngineOfProcess {
  let stopsAt: ((call: string, args: readonly unknown[]) => boolean) | null = null;
  let reached = () => {};
  let going = Promise.resolve();
  let goOn = () => {};
  let isDead = false;
  const through =
    (name: string, member: (...args: unknown[]) => unknown) =>
    async (...args: unknown[]): Promise<unknown> => {
      if (stopsAt?.(name, args) === true) {
        stopsAt = null;
        reached();
      }
      await going;
      if (isDead) throw new Error("killed");
      return member.apply(shared, args);
    };
  const engine = new Proxy(shared, {
    get(of, name) {
      const member: unknown = Reflect.get(of, name);
      if (name === "manifest") return { ...of.manifest, shared: true };
      if (name === "close") return async () => {};
      return typeof member === "function" ? through(String(name), member as (...args: unknown[]) => unknown) : member;
    },
  });
  return {
    engine,
    stopAt: (call, is) => {
      const stopped = new Promise<void>((resolve) => {
        reached = () => {
          going = new Promise((end) => {
            goOn = end;
          });
          resolve();
        };
      });
      stopsAt = (name, args) => name === call && is(...(args as never));
      return { stopped, goOn: () => goOn() };
    },
    kill: () => {
      isDead = true;
      goOn();
    },
  };
}
