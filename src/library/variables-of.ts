import { type Config, parseConfig, VARIABLES } from "../compose/config.js";
import { type AppError, type ErrorDetail, isAppError } from "../platform/errors.js";
import { invalidConfig } from "../platform/invalid-config.js";
import { nearestName } from "../platform/nearest-name.js";
import type { Settings } from "./settings.js";

/** The name that a variable has as an option: `MEM0_ENABLED` is `mem0Enabled`. */
export function optionOf(variable: string): string {
  return variable.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

type Environment = Readonly<Record<string, string | undefined>>;

const VARIABLE_OF: ReadonlyMap<string, string> = new Map(Object.keys(VARIABLES).map((name) => [optionOf(name), name]));

/**
 * The configuration that options make, over `env`. `others`: names of options that are no variables.
 * @throws INVALID_CONFIG naming every option that is wrong or unknown
 */
export function configOf(settings: Settings, env: Environment, others: readonly string[]): Config {
  const known = [...VARIABLE_OF.keys(), ...others];
  const unknown: ErrorDetail[] = [];
  const given = new Map<string, string>();
  for (const [option, value] of Object.entries(settings)) {
    const variable = VARIABLE_OF.get(option);
    if (variable !== undefined && value !== undefined) given.set(variable, textOf(value));
    if (!known.includes(option)) unknown.push({ pointer: `/${option}`, detail: unknownOption(option, known) });
  }
  if (unknown.length > 0) throw invalid(unknown);
  try {
    return parseConfig({ ...env, ...Object.fromEntries(given) });
  } catch (error) {
    throw isAppError(error, "INVALID_CONFIG") && error.errors.length > 0 ? invalid(error.errors.map((each) => named(each, given))) : error;
  }
}

function unknownOption(option: string, known: readonly string[]): string {
  const meant = nearestName(option, known);
  return `there is no option \`${option.slice(0, 64)}\`${meant === undefined ? "" : `; did you mean \`${meant}\`?`}`;
}

/** What was given as an option is named as one. */
function named(problem: ErrorDetail, given: ReadonlyMap<string, string>): ErrorDetail {
  const variable = problem.pointer.slice(1);
  if (!given.has(variable)) return problem;
  const option = optionOf(variable);
  return { pointer: `/${option}`, detail: problem.detail.replace(variable, option) };
}

function invalid(errors: readonly ErrorDetail[]): AppError {
  return invalidConfig(errors, { hint: "See the options that are named." });
}

/** As a variable holds it. */
function textOf(value: NonNullable<Settings[keyof Settings]>): string {
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
