import type { PauseNoticeInput } from './messages.ts';
import { tellHook } from './tell-hook.ts';

/**
 * Tells the pause hook that a campaign has paused by itself. A workflow of its own: the campaign goes on whether somebody hears of it or
 * not.
 */
export async function pauseNotice(input: PauseNoticeInput): Promise<{ delivered: boolean }> {
  const { campaignId, round, pausedAt } = input;
  const notice = { campaignId, round, pausedAt };
  return tellHook(input, notice, ({ notifyPause }) => notifyPause(notice));
}
