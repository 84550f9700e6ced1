import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** Has a server listen on a free port until the test ends, whoever still waits for an answer of it. Resolves with its address. */
export async function onLoopback(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Things that happen, to be waited for: those that were told before count. */
export class Happenings<T> {
  readonly all: T[] = [];
  readonly #waiting: (() => void)[] = [];

  tell(what: T): void {
    this.all.push(what);
    for (const go of this.#waiting.splice(0)) go();
  }

  /** Resolves when so many are such ones. */
  async until(isSuch: (what: T) => boolean, times = 1): Promise<void> {
    while (this.all.filter(isSuch).length < times) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
