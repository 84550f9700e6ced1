import { AppError } from "./errors.js";

/** A package that an installation may do without, and what asks for it. */
export interface OptionalPackage {
  readonly name: string;
  /** As a person set it: `DATABASE_URL`, `EMBEDDING_PROVIDER=minilm`. */
  readonly setting: string;
  /** What to install. Default: the package alone. */
  readonly install?: string;
  /** What follows the command, such as another way out: ", or set OPENAI_API_KEY". Default: nothing. */
  readonly more?: string;
}

/**
 * Where `import()` of an optional package fails. That import stands in a `try`, in the same function, with the package's name as a literal
 * where its types are at hand: what a bundler doesn't find there, it takes for optional.
 */
export function missingPackage({ name, setting, install = name, more = "" }: OptionalPackage, cause?: unknown): AppError {
  return new AppError("INVALID_CONFIG", {
    detail: `${setting} needs the package ${name}, which can't be loaded.`,
    hint: `Run \`npm install ${install}\`${more}.`,
    cause,
  });
}
