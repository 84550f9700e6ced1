import type { Context } from "hono";
import { AppError } from "../platform/errors.js";

export interface EventStreamOptions {
  /** Bytes that wait for a slow reader before the writer is held up. */
  readonly bufferBytes: number;
  /** A comment is sent this often, so that nothing in between takes the connection for dead. */
  readonly heartbeatMs: number;
  /** A reader that takes nothing for this long has gone away. */
  readonly stalledMs: number;
}

/**
 * Server-sent events over a web stream, with back-pressure: `send` resolves when there is room again.
 * Memory is bounded by `bufferBytes` and one event. Once the reader has gone, `gone` aborts and `send` throws CLIENT_CLOSED_REQUEST.
 */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly gone: AbortSignal;
  readonly #abort = new AbortController();
  readonly #encoder = new TextEncoder();
  readonly #options: EventStreamOptions;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #roomWaiters: (() => void)[] = [];
  #heartbeat: NodeJS.Timeout | null = null;
  #lastId = 0;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.gone = this.#abort.signal;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#wake(),
        cancel: () => this.#leave(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: options.bufferBytes }),
    );
  }

  /** Starts the heartbeat, unless the stream has ended already. */
  open(): void {
    if (!this.#controller) return;
    this.#heartbeat ??= setInterval(() => {
      if (this.#hasRoom()) this.#enqueue(": keep-alive\n\n");
    }, this.#options.heartbeatMs);
    this.#heartbeat.unref();
  }

  /**
   * `id`: one line. Default: the event's number, from 1. @throws CLIENT_CLOSED_REQUEST when the reader has gone, or takes nothing for
   * `stalledMs`
   */
  async send(event: string, data: unknown, id?: string): Promise<void> {
    this.#lastId += 1;
    await this.#write(`id: ${id ?? this.#lastId}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Without an id, and without a name where none is given. `data`: one line. @throws as {@link send} */
  async sendData(data: string, event?: string): Promise<void> {
    await this.#write(`${event === undefined ? "" : `event: ${event}\n`}data: ${data}\n\n`);
  }

  async #write(text: string): Promise<void> {
    if (this.gone.aborted) throw new AppError("CLIENT_CLOSED_REQUEST");
    this.#enqueue(text);
    if (!this.#hasRoom()) await this.#room();
  }

  /** Ends the stream after what is buffered. */
  close(): void {
    this.#stopHeartbeat();
    if (!this.gone.aborted) this.#controller?.close();
    this.#controller = null;
    this.#wake();
  }

  #hasRoom(): boolean {
    return (this.#controller?.desiredSize ?? 0) > 0;
  }

  #enqueue(text: string): void {
    this.#controller?.enqueue(this.#encoder.encode(text));
  }

  #room(): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const stalled = setTimeout(() => {
        this.#controller?.error(new AppError("CLIENT_CLOSED_REQUEST", { detail: "The reader stalled." }));
        this.#leave();
      }, this.#options.stalledMs);
      this.#roomWaiters.push(() => {
        clearTimeout(stalled);
        if (this.gone.aborted) reject(new AppError("CLIENT_CLOSED_REQUEST"));
        else resolve();
      });
    });
  }

  #wake(): void {
    const waiters = this.#roomWaiters;
    this.#roomWaiters = [];
    for (const waiter of waiters) waiter();
  }

  #leave(): void {
    this.#stopHeartbeat();
    this.#controller = null;
    this.#abort.abort(new AppError("CLIENT_CLOSED_REQUEST"));
    this.#wake();
  }

  #stopHeartbeat(): void {
    if (this.#heartbeat) clearInterval(this.#heartbeat);
    this.#heartbeat = null;
  }
}

/** The answer that a stream is, from now on open; `more`: headers beside those of every stream. */
export function streamed(c: Context, stream: EventStream, more: Readonly<Record<string, string>> = {}): Response {
  stream.open();
  const own = { "Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store", "X-Accel-Buffering": "no" };
  return c.body(stream.body, 200, { ...own, ...more });
}
