import { z } from 'zod';
import { readBy } from '../input/setting.ts';
import { parseDuration } from '../input/times.ts';
import type { ScreeningVerdict } from '../../rules/attempts/screening.ts';
import { HookError } from './errors.ts';
import { askSigned, type SignedPost } from './signed-post.ts';

export interface ScreenedCall {
  /** Returned in the answer; opaque to the hook. */
  ref: string;
  phone: string;
  /** User's own id, or null. */
  id: string | null;
  /** Data row, from 1. */
  row: number;
}

export interface PreDialQuestion {
  campaign: string;
  batch: string;
  recipients: readonly ScreenedCall[];
}

/** Far above a batch of 1,000 with reasons. */
const longestAnswerBytes = 1024 * 1024;
const codePattern = /^[a-z0-9_-]{1,40}$/;

const entry = z.object({
  ref: z.string(),
  eligible: z.boolean(),
  reason: z.string().nullish(),
  retry_after: readBy(parseDuration, 'no duration').nullish(),
});
const answer = z.object({ recipients: z.array(entry) });

/**
 * Asks the hook about one batch. Throws HookError for any incomplete or malformed answer, and then no call is placed: a missing line must
 * never count as a yes.
 */
export async function askPreDial(question: PreDialQuestion, request: Omit<SignedPost, 'body'>): Promise<Map<string, ScreeningVerdict>> {
  const body = { event: 'pre_dial', ...question };
  const text = await askSigned({ ...request, body, longestAnswerBytes });
  return readAnswer(
    text,
    question.recipients.map(({ ref }) => ref),
  );
}

/** Parses the hook's answer for these calls. Throws HookError, which names paths but no values. */
export function readAnswer(text: string, refs: readonly string[]): Map<string, ScreeningVerdict> {
  const parsed = answer.safeParse(parseJson(text));
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.join('.') ?? '';
    throw unusable(path === '' ? 'it is no JSON object with "recipients"' : `"${path}" is missing or has a value that is not allowed`);
  }
  const expected = new Set(refs);
  const verdicts = new Map<string, ScreeningVerdict>();
  for (const [index, { ref, eligible, reason, retry_after: afterMs }] of parsed.data.recipients.entries()) {
    const place = `recipients.${index}`;
    if (!expected.has(ref)) throw unusable(`"${place}.ref" was not asked about`);
    if (verdicts.has(ref)) throw unusable(`"${place}.ref" stands there twice`);
    if (eligible && afterMs != null) throw unusable(`"${place}" is eligible and has "retry_after"`);
    verdicts.set(ref, readVerdict(eligible, reason ?? null, afterMs ?? null));
  }
  if (verdicts.size < expected.size) throw unusable(`it has ${verdicts.size} of the ${expected.size} asked about`);
  return verdicts;
}

function readVerdict(eligible: boolean, reason: string | null, afterMs: number | null): ScreeningVerdict {
  if (eligible) return { kind: 'eligible' };
  if (afterMs !== null) return { kind: 'later', afterMs };
  // Free text may contain personal data.
  return { kind: 'refused', code: reason !== null && codePattern.test(reason) ? reason : null };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unusable('it is not JSON');
  }
}

function unusable(what: string): HookError {
  return new HookError('unusable', `its answer cannot be used: ${what}`);
}
