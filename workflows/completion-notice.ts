import type { CompletionNoticeInput } from './messages.ts';
import { tellHook } from './tell-hook.ts';

/**
 * Tells the completion hook that a round has ended. A workflow of its own: the campaign is over whether somebody hears of it or not, and a
 * schedule does not wait for it with its next firing.
 */
export async function completionNotice(input: CompletionNoticeInput): Promise<{ delivered: boolean }> {
  const { campaignId, round, end } = input;
  return tellHook(input, { campaignId, round }, ({ notify }) => notify({ campaignId, round, end }));
}
