import { strikePoints } from './strikes.ts';
import { Drive } from './drive.ts';
import type { Mix } from './mix.ts';
import type { Outcome } from './outcome.ts';

/** What mixes went through, to prove that they were not harmless. */
export class Coverage {
  readonly seen = new Map<string, number>();

  note(outcome: Outcome): void {
    const { ledger } = outcome;
    const words = [
      ...outcome.struck.map((point) => `strike ${point}`),
      ...outcome.submits.map((what) => `submit ${what}`),
      ...ledger.posts.map((post) => `verdict ${post.verdict ?? 'missing'}`),
      ...ledger.batches.map((batch) => `batch ${batch.state}${batch.accepted_by === null ? '' : ` by ${batch.accepted_by}`}`),
      ...ledger.attempts.map((attempt) => `attempt ${attempt.disposition ?? `${attempt.state} ${attempt.reason}`}`),
      ...ledger.attempts.map((attempt) => `evidence ${attempt.evidence ?? 'none'}`),
      ...ledger.recipients.map((recipient) => `outcome ${recipient.outcome}`),
    ];
    for (const word of words) this.seen.set(word, (this.seen.get(word) ?? 0) + 1);
  }
}

/** Answers a text per mix that broke a promise: seed, world, violations. */
export async function runMixes(mixes: Iterable<Mix>, coverage: Coverage): Promise<string[]> {
  const broken: string[] = [];
  for (const mix of mixes) {
    const outcome = await new Drive(mix).run();
    coverage.note(outcome);
    const complaints = [...[...outcome.breaches, ...outcome.proven].map(({ rule, what }) => `${rule}: ${what}`), ...outcome.faults];
    if (complaints.length === 0) continue;
    const { dialect, listOrder, unansweredCreateRecord } = mix.sandbox;
    const world = `${dialect}, ${listOrder}, unanswered calls ${unansweredCreateRecord === true ? 'with' : 'without'} a record`;
    broken.push(`seed ${mix.seed} (${world})\n  ${complaints.slice(0, 12).join('\n  ')}`);
  }
  return broken;
}

export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** What the first 15 mixes cannot go by without, unless something has made them harmless. */
export const mustHappen = [
  ...strikePoints.map((point) => `strike ${point}`),
  ...['confirmed', 'refused', 'not_sent', 'unknown', 'missing'].map((verdict) => `verdict ${verdict}`),
  ...['confirmed by reply', 'confirmed by evidence', 'held', 'redial', 'refused', 'released'].map((state) => `batch ${state}`),
  ...['answered', 'voicemail', 'busy', 'no_answer', 'unreached', 'failed', 'opted_out', 'unknown'].map(
    (disposition) => `attempt ${disposition}`,
  ),
  ...['reference', 'batch_and_number', 'number', 'opening_line', 'none'].map((evidence) => `evidence ${evidence}`),
  ...['completed', 'exhausted', 'opted_out', 'unresolved'].map((outcome) => `outcome ${outcome}`),
];
