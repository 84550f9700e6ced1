import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A network between a browser and the server that a test can make go quiet, as a phone's does: nothing comes any more, and nothing is closed. */
export interface QuietProxy {
  readonly url: string;
  /** Holds back what the server sends on the connections whose last request was one of these, from now on. */
  hush(request: string): void;
  /** What was held back comes after all. */
  speak(): void;
  close(): Promise<void>;
}

export async function openQuietProxy(target: string): Promise<QuietProxy> {
  const { hostname, port } = new URL(target);
  const connections = new Set<{ readonly client: Socket; readonly server: Socket; asked: string; held: Buffer[] | null }>();
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    const connection = { client, server, asked: "", held: null as Buffer[] | null };
    connections.add(connection);
    client.on("data", (bytes: Buffer) => {
      const text = bytes.toString("latin1");
      if (/^[A-Z]+ \//.test(text)) connection.asked = text.slice(0, text.indexOf("\r\n"));
      server.write(bytes);
    });
    server.on("data", (bytes: Buffer) => {
      if (connection.held === null) client.write(bytes);
      else connection.held.push(bytes);
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => {
        connections.delete(connection);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    hush(request) {
      for (const connection of connections) if (connection.asked.startsWith(request)) connection.held ??= [];
    },
    speak() {
      for (const connection of connections) {
        for (const bytes of connection.held ?? []) connection.client.write(bytes);
        connection.held = null;
      }
    },
    close() {
      for (const { client, server } of connections) {
        client.destroy();
        server.destroy();
      }
      return new Promise((resolve) => proxy.close(() => resolve()));
    },
  };
}
