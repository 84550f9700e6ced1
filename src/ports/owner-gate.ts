import type { Owner } from "../domain/owner.js";

/** Lets an erasure refuse new work of an owner, end what runs, and wait for it. */
export interface OwnerGate {
  /** @throws OWNER_ERASED while an erasure runs, SHUTTING_DOWN */
  begin(owner: Owner): { readonly signal: AbortSignal; end(): void };
}

/** Work for an owner that an erasure aborts and waits for. @throws OWNER_ERASED, SHUTTING_DOWN, and what it throws */
export async function whileOpen<T>(gate: OwnerGate, owner: Owner, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const running = gate.begin(owner);
  try {
    return await work(running.signal);
  } finally {
    running.end();
  }
}
