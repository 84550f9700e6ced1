import type { Owner } from "../domain/owner.js";
import type { AppError } from "../platform/errors.js";

/** Who a request comes from, as the server knows it: never from a body, a query or a model. */
export interface Identity {
  readonly owner: Owner;
  readonly displayName?: string;
  readonly provider?: string;
  /** IANA name, where identity tells it. */
  readonly timeZone?: string;
}

/**
 * What the middlewares leave for the handlers. `Bindings` are node's request and response, absent where the app is called without
 * a port.
 */
export interface HttpEnv {
  Bindings: {
    readonly incoming?: { readonly rawHeaders: readonly string[]; readonly socket?: { readonly remoteAddress?: string | undefined } };
  };
  Variables: {
    requestId: string;
    identity: Identity;
    /**
     * Who the identity is after merges; on the paths of turns, which look by themselves, as it is named. On the routes of trusted backends:
     * nobody, see {@link everybodyOf}.
     */
    owner: Owner;
    /** On the routes of trusted backends alone: theirs. */
    tenant: string;
    /** IANA name from `X-Timezone`, where the client sent one. */
    timeZone: string | undefined;
    /** The session that holds the message of the request's turn, once it does: should the turn fail, it is kept there. */
    keptIn: string | undefined;
    /** Logs a failure whose answer has begun already, and so passes the error handler by. */
    report: (error: AppError) => void;
    /** The parsed JSON body, as it came. */
    body: unknown;
  };
}
