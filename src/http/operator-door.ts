import type { Config } from "../compose/config.js";
import { AppError } from "../platform/errors.js";
import { type Credentials, sharedSecret } from "./authenticator.js";

export type OperatorConfig = Partial<Pick<Config, "OPERATOR_TOKEN">>;

const BELOW = "/v1/operator/";

/** Whether a path is for whoever runs the server, and not for its users. */
export function isOperatorPath(path: string): boolean {
  return path.startsWith(BELOW);
}

/** What a 401 of such a path says in `WWW-Authenticate`. */
export const OPERATOR_CHALLENGE = 'Bearer realm="maitred operator"';

/** Keeps the operator out of what is users', and users out of what is the operator's. */
export interface OperatorDoor {
  /**
   * For the operator alone, by token or session.
   * @throws NOT_FOUND without OPERATOR_TOKEN, UNAUTHENTICATED, and what {@link OperatorSession} throws
   */
  enter(request: Credentials): void;
  /** For a user: the operator's token is nobody's. @throws UNAUTHENTICATED */
  refuse(request: Pick<Credentials, "header">): void;
}

/**
 * Another way in, made from the token: the session of a browser. False for a request without one. @throws for one that has it and must not
 * use it so
 */
export type OperatorSession = (request: Credentials) => boolean;

export function operatorDoor({ OPERATOR_TOKEN }: OperatorConfig, session: OperatorSession = () => false): OperatorDoor {
  const token = sharedSecret(OPERATOR_TOKEN);
  return {
    enter: (request) => {
      if (!token.isSet) throw new AppError("NOT_FOUND");
      if (token.heldBy(request.header("Authorization")) || session(request)) return;
      throw new AppError("UNAUTHENTICATED", { detail: "This is for the operator.", hint: "Send OPERATOR_TOKEN as a bearer token." });
    },
    refuse: (request) => {
      if (!token.heldBy(request.header("Authorization"))) return;
      throw new AppError("UNAUTHENTICATED", { detail: "The operator is no user.", hint: "Send the credentials of a user." });
    },
  };
}
