import {
  type FirestoreAddress,
  type FirestoreClient,
  firestoreClient,
  type Query,
} from "../../../src/state/engines/firestore/firestore-client.js";

/** A client that counts its calls, and answers with an error where a test says so. */
export interface WatchedFirestore {
  readonly connect: (address: FirestoreAddress) => Promise<FirestoreClient>;
  /** `read` or `commit`, one for each call to the server; not the look by which the emulator's readings are of one moment. */
  readonly calls: string[];
  /** gRPC's number and words, instead of an answer to each `read` or `commit`; null: as it is. */
  fail(call: "read" | "commit", error: { readonly code?: number; readonly message: string } | null): void;
}

export function watchedFirestore(): WatchedFirestore {
  const calls: string[] = [];
  const failing = new Map<string, { readonly code?: number; readonly message: string }>();
  const called = async <T>(call: string, run: () => Promise<T>): Promise<T> => {
    calls.push(call);
    const error = failing.get(call);
    if (error !== undefined) throw Object.assign(new Error(error.message), error);
    return run();
  };
  const watched = (query: Query): Query => {
    const next = ["where", "orderBy", "startAfter", "limit", "select"] as const;
    const steps = next.map((name) => [
      name,
      (...given: never[]) => watched((query[name] as (...all: never[]) => Query).apply(query, given)),
    ]);
    return { ...Object.fromEntries(steps), get: () => called("read", () => query.get()) } as Query;
  };
  const connect = async (address: FirestoreAddress): Promise<FirestoreClient> => {
    const client = await firestoreClient(address);
    return new Proxy(client, {
      get: (target, name: keyof FirestoreClient) => {
        if (name === "runTransaction") {
          const run: FirestoreClient["runTransaction"] = (work, options) =>
            target.runTransaction(
              (at) =>
                work({ get: (query) => called("read", () => at.get(query)), getAll: (...all) => called("read", () => at.getAll(...all)) }),
              options,
            );
          return run;
        }
        if (name === "batch")
          return () => {
            const batch = target.batch();
            const commit = batch.commit.bind(batch);
            return Object.assign(batch, { commit: () => called("commit", commit) });
          };
        if (name === "collectionGroup") return (id: string) => watched(target.collectionGroup(id));
        const value = target[name];
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  };
  return {
    connect,
    calls,
    fail: (call, error) => void (error === null ? failing.delete(call) : failing.set(call, error)),
  };
}
