import type { SeenConversation } from './seen-conversation.ts';
import type { Assessment } from '../../core/state/talk.ts';

type Verdict = 'success' | 'failure' | 'unknown';

export function describeEvaluation({ evaluation }: Assessment, extended: boolean): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(evaluation).map(([id, { result, rationale, score }]) => {
      const scored = score === undefined ? { success: 1, failure: 0, unknown: null }[result] : score;
      return [id, { result, score: scored, feedback: rationale, ...(extended ? { criteria_id: id, rationale } : {}) }];
    }),
  );
}

export function describeCollected({ collected }: Assessment, extended: boolean): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(collected).map(([id, { value, rationale }]) => [
      id,
      { value, ...(extended ? { data_collection_id: id, rationale } : {}) },
    ]),
  );
}

/** Upstream's `analysis`, beside the names of the contract. */
export function describeAnalysis(seen: SeenConversation): Record<string, unknown> {
  const evaluation = describeEvaluation(seen.assessment, true);
  const collected = describeCollected(seen.assessment, true);
  return {
    call_successful: callSuccess(seen),
    call_summary_title: titleOf(seen),
    transcript_summary: summaryOf(seen),
    evaluation_criteria_results: evaluation,
    data_collection_results: collected,
    evaluation_criteria_results_list: Object.values(evaluation),
    data_collection_results_list: Object.values(collected),
  };
}

export function callSuccess({ analysed, assessment, course }: SeenConversation): Verdict {
  if (!analysed) return 'unknown';
  if (course.answeredAt === null || course.brokeDown) return 'failure';
  const results = Object.values(assessment.evaluation).map(({ result }) => result);
  if (results.length === 0 || results.includes('unknown')) return 'unknown';
  return results.every((result) => result === 'success') ? 'success' : 'failure';
}

function titleOf({ course, assessment, call }: SeenConversation): string {
  if (course.result === 'voicemail') return 'Message left';
  if (course.optedOut || assessment.collected['opt_out']?.value === true) return 'Opt-out';
  return call.agent?.name ?? 'Conversation';
}

function summaryOf({ talk, durationSeconds, assessment }: SeenConversation): string {
  const told = Object.entries(assessment.collected)
    .filter(([, { value }]) => value !== null && value !== false)
    .map(([id, { value }]) => `${id.replaceAll('_', ' ')}: ${String(value).slice(0, 80)}`);
  const facts = told.length === 0 ? '' : ` Told: ${told.join('; ')}.`;
  return `The conversation had ${talk.turns.length} turns and lasted ${durationSeconds} seconds.${facts}`;
}
