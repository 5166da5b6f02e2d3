import { problemOf, type Problem } from '../../api/core/problem.ts';
import { showTranscript } from '../../api/core/shown.ts';
import type { ViewRequest } from './view.ts';

/** What was said in a call, or why it cannot be told now, as the API refuses it. */
export async function askTranscript(
  { context, holder }: Pick<ViewRequest, 'context' | 'holder'>,
  named: { campaignId: string; row: number; call: number },
): Promise<{ shown: ShownCall; refusal: null } | { shown: null; refusal: Problem }> {
  try {
    return { shown: await showTranscript(context, holder, named), refusal: null };
  } catch (error) {
    const refusal = problemOf(error);
    if (refusal.status === 500) throw error;
    return { shown: null, refusal };
  }
}

export type ShownCall = Awaited<ReturnType<typeof showTranscript>>;
