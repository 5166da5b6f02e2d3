import type { ModelCaller } from '../llm/model-caller.ts';
import type { SandboxSettings } from '../settings.ts';
import type { Call } from '../telephony/call.ts';
import { converseWithModel } from './converse.ts';
import type { LiveTalks } from './live-talks.ts';
import { assessByModel, assessesByModel } from './model-assessment.ts';
import { modelMindOf } from './model-of-call.ts';
import { isHeldByModel, ownModelOf } from './model-settings.ts';
import { createPhoneTools } from './model-tool-runner.ts';
import { setUpTalk } from './talk-of.ts';
import type { Talk } from './talk.ts';

/** Calls whose agent speaks through the model behind its own address. */
export function createModelTalks(
  settings: SandboxSettings,
  caller: ModelCaller,
  unavailableModels: ReadonlySet<string>,
): LiveTalks {
  const tools = createPhoneTools(settings);
  let stopping = new AbortController();
  return {
    wants: isHeldByModel,
    async hold(call, answeredAt) {
      try {
        return await hold(call, answeredAt, stopping.signal);
      } catch (error) {
        // Nobody else waits for this, and one conversation must not take the service down.
        const reason = `internal_error: ${error instanceof Error ? error.name : 'unknown'}`;
        return { turns: [], endedAt: answeredAt, terminationReason: reason, brokeDown: true };
      }
    },
    stop() {
      stopping.abort();
      stopping = new AbortController();
    },
  };

  async function hold(call: Call, answeredAt: number, signal: AbortSignal): Promise<Talk> {
    const { agent, course, conversationId } = call;
    const model = ownModelOf(call);
    if (agent === null || course === null || model === null)
      throw new Error(`Call ${call.callId} is not held by a model of its agent.`);
    const mind = modelMindOf(call, model, { settings, caller, unavailableModels, tools, signal });
    const talk = await converseWithModel(setUpTalk(settings.seed, call, course, answeredAt), mind);
    const { platform } = agent;
    const usedBackup = talk.turns.some(({ usage }) => usage?.fallback === true);
    if (talk.brokeDown || usedBackup || !assessesByModel(platform)) return talk;
    return { ...talk, assessment: await assessByModel(caller, { conversationId, platform, model, signal }, talk) };
  }
}
