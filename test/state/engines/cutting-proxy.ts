import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** A network between an engine and its client that a test can make lose a reply, or go quiet. Knows nothing of what is said on it. */
export interface CuttingProxy {
  readonly port: number;
  /**
   * The server gets the next request, and does it; then the connection is cut, and the client sees nothing of the reply. With `holding`:
   * the next request whose bytes have this text in them, such as a commit's id. Resolves when it is cut.
   */
  cutNextReply(holding?: string): Promise<void>;
  /** Passes nothing on any more, with all connections open; new ones are taken too. */
  pause(): void;
  /** What was held back comes after all. */
  resume(): void;
  /** Also cuts what is open. */
  close(): Promise<void>;
}

/** From the first byte of a reply until the cut, in milliseconds: what the server does when it has answered is done, too. */
const SETTLES_MS = 20;

interface Cut {
  readonly holding: string;
  readonly done: () => void;
}

export async function startCuttingProxy(target: { readonly host: string; readonly port: number }): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  const cuts: Cut[] = [];
  let quiet = false;
  /** Both ways: what comes in on one side goes out on the other, but for what `keeps` keeps back. */
  const pass = (from: Socket, to: Socket, keeps: (bytes: Buffer) => boolean) => {
    sockets.add(from);
    if (quiet) from.pause();
    from.setNoDelay(true);
    from.on("data", (bytes: Buffer) => {
      if (!keeps(bytes)) to.write(bytes);
    });
    from.on("error", () => to.destroy());
    from.on("end", () => to.end());
    from.on("close", () => {
      sockets.delete(from);
      to.destroy();
    });
  };
  const proxy = createServer((client) => {
    const server = connect(target.port, target.host);
    let cut: Cut | undefined;
    let seen = "";
    pass(client, server, (bytes) => {
      if (cut !== undefined || cuts.length === 0) {
        seen = "";
        return false;
      }
      // A text that is looked for may come in pieces.
      seen = (seen + bytes.toString("latin1")).slice(-bytes.length - 256);
      const found = cuts.findIndex(({ holding }) => seen.includes(Buffer.from(holding).toString("latin1")));
      if (found >= 0) [cut] = cuts.splice(found, 1);
      return false;
    });
    pass(server, client, () => {
      if (cut === undefined) return false;
      const { done } = cut;
      void pause(SETTLES_MS).then(() => {
        client.resetAndDestroy();
        server.destroy();
        done();
      });
      return true;
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    cutNextReply: (holding = "") => new Promise<void>((done) => cuts.push({ holding, done })),
    pause() {
      quiet = true;
      for (const socket of sockets) socket.pause();
    },
    resume() {
      quiet = false;
      for (const socket of sockets) socket.resume();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => proxy.close(() => resolve()));
    },
  };
}
