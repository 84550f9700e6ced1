import type { Config } from "../compose/config.js";
import type { Clock } from "../platform/clock.js";
import { AppError } from "../platform/errors.js";
import type { Credentials } from "./authenticator.js";
import { sharedSecret } from "./shared-secret.js";
import { admitsStudio, type StudioSessions, studioSessions } from "./studio-session.js";

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
   * For the operator alone, by the token or a session of Studio. @throws NOT_FOUND without OPERATOR_TOKEN, UNAUTHENTICATED,
   * FORBIDDEN_ORIGIN for what changes something by a session, and doesn't come from this server's page
   */
  enter(request: Pick<Credentials, "header" | "method" | "url">): void;
  /** For a user: the operator's token is nobody's. @throws UNAUTHENTICATED */
  refuse(request: Pick<Credentials, "header">): void;
  /** Where there is a token: what signs in to Studio by it. */
  readonly studio: StudioDoor | null;
}

/** Gives out sessions of Studio for the token. */
export interface StudioDoor {
  /** The value of a new session's cookie. @throws UNAUTHENTICATED */
  signIn(token: string): string;
}

export function operatorDoor({ OPERATOR_TOKEN }: OperatorConfig, clock: Clock): OperatorDoor {
  const token = sharedSecret(OPERATOR_TOKEN);
  const sessions: StudioSessions | null = OPERATOR_TOKEN === undefined ? null : studioSessions(OPERATOR_TOKEN, clock);
  return {
    enter: (request) => {
      if (sessions === null) throw new AppError("NOT_FOUND");
      if (token.heldBy(request.header("Authorization")) || admitsStudio(sessions, request)) return;
      throw new AppError("UNAUTHENTICATED", { detail: "This is for the operator.", hint: "Send OPERATOR_TOKEN as a bearer token." });
    },
    refuse: (request) => {
      if (!token.heldBy(request.header("Authorization"))) return;
      throw new AppError("UNAUTHENTICATED", { detail: "The operator is no user.", hint: "Send the credentials of a user." });
    },
    studio: sessions && {
      signIn: (given) => {
        if (token.heldBy(`Bearer ${given}`)) return sessions.begin();
        throw new AppError("UNAUTHENTICATED", { detail: "That is not the operator's token.", hint: "Give OPERATOR_TOKEN as it is set." });
      },
    },
  };
}
