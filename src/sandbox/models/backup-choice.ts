/** Who takes over when a model gives no answer, as callers may say it. */
export interface BackupChoice {
  /** The contract's Default, Custom or Disabled, or upstream's override (gaps A.4), in any case. */
  preference?: string | undefined;
  order?: string[] | undefined;
  /** Of the contract's Custom: an order of one. */
  model_id?: string | undefined;
}

/** The one form in which the choice is kept: upstream's. */
export function plainBackup({ preference, order, model_id: modelId }: BackupChoice): BackupChoice {
  const chosen = preference?.toLowerCase();
  if (chosen === 'default' || chosen === 'disabled') return { preference: chosen };
  return { preference: 'override', order: modelId === undefined ? (order ?? []) : [modelId] };
}
