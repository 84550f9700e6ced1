/** A request to the HTTP API, as far as a trace of it needs. */
export interface TracedRequest {
  readonly method: string;
  header(name: string): string | undefined;
}

export interface RequestEnd {
  /** The route's pattern, which holds no id; null where there is none. */
  readonly route: string | null;
  readonly status: number;
}

/** Runs a request where traces see it. What `work` throws is thrown on. */
export type TraceRequest = (request: TracedRequest, work: () => Promise<RequestEnd>) => Promise<void>;
