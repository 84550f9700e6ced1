import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** An address behind which another server may stand from one moment to the next, as after a failover. */
export interface SwitchingProxy {
  readonly port: number;
  /** Cuts what is open; new connections go there. */
  switchTo(port: number): void;
  close(): Promise<void>;
}

/** `onSent`: is given what clients send, piece by piece. */
export async function startSwitchingProxy(first: number, onSent?: (bytes: Buffer) => void): Promise<SwitchingProxy> {
  const sockets = new Set<Socket>();
  let target = first;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const proxy = createServer((client) => {
    const server = connect(target, "127.0.0.1");
    if (onSent !== undefined) client.on("data", onSent);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    switchTo(port) {
      target = port;
      cut();
    },
    close() {
      cut();
      return new Promise((resolve) => proxy.close(() => resolve()));
    },
  };
}
