/** What was measured of a model at its endpoint, and since when that is so (ISO 8601). */
export interface MeasuredModel {
  readonly measured_at: string;
  /** As whoever measures has them; what can't be read is measured anew. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** What is measured of models, over restarts and for all processes of an installation. */
export interface MeasuredModels {
  /** By the hash that names endpoint and model. @throws STORAGE_UNAVAILABLE */
  all(): Promise<ReadonlyMap<string, MeasuredModel>>;
  /** Decides by what is there, atomically, and resolves to what is then. @throws STORAGE_UNAVAILABLE */
  change(hash: string, decide: (stored: MeasuredModel | null) => MeasuredModel): Promise<MeasuredModel>;
}
