import { AppError } from "../platform/errors.js";

/** What a service refused for, for a person, and what to do about it. Default of the latter: see that it can be reached. */
export type Refusal = readonly [detail: string, advice?: string];

/** How a service's client fails. */
export interface ServiceFailures {
  /** For a person. */
  readonly name: string;
  /** Undefined: it did not say. */
  readonly codeOf: (error: unknown) => number | string | undefined;
  /** Undefined: it is none; the service was not reached, or has a passing trouble of its own. */
  readonly refusalOf: (error: unknown) => Refusal | undefined;
  /** Whether a start may go well a little later. */
  readonly mayPass: (error: unknown) => boolean;
  /** Of one that can't be reached. */
  readonly advice: string;
}

/** Errors of a service's calls, told by what its client threw, which may hold what was sent, and so people's words: none of it is kept. */
export interface ServiceErrors {
  errorOf(error: unknown): AppError;
  /** Of a start that failed. */
  hintOf(error: AppError): string;
  mayPass(error: AppError): boolean;
}

/** What is kept of a client's error. */
class ServiceFailure extends Error {
  constructor(
    detail: string,
    readonly code: number | string | undefined,
    readonly advice: string | undefined,
    readonly passes: boolean,
  ) {
    super(detail);
  }
}

export function serviceErrors({ name, codeOf, refusalOf, mayPass, advice: unreachable }: ServiceFailures): ServiceErrors {
  return {
    errorOf: (error) => {
      if (error instanceof AppError) return error;
      const code = codeOf(error);
      const [detail, hint] = refusalOf(error) ?? [`${name} is out of reach${code === undefined ? "" : ` (${code})`}.`];
      const cause = new ServiceFailure(detail, code, hint, mayPass(error));
      return new AppError("STORAGE_UNAVAILABLE", { detail, ...(hint !== undefined && { hint }), cause, retryAfterSeconds: 1 });
    },
    hintOf: ({ cause }) => (cause instanceof ServiceFailure ? cause.advice : undefined) ?? unreachable,
    mayPass: ({ cause }) => !(cause instanceof ServiceFailure) || cause.passes,
  };
}

/** Whether the error is that of a bound in time. */
export function isLate(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}
