import type { LiveTalks } from '../core/conversation/agent-mind.ts';
import { converseWithModel, talkUntil } from '../core/conversation/converse.ts';
import { isHeldByModel, ownModelOf } from '../core/conversation/effective-llm.ts';
import { setUpTalk } from '../core/conversation/talk-of.ts';
import type { SandboxSettings } from '../core/settings/settings.ts';
import type { Call } from '../core/state/call.ts';
import type { Turn } from '../core/state/talk.ts';
import { modelMindOf } from './model-mind.ts';

export interface ModelTalks extends LiveTalks {
  stop(): void;
}

/** Holds the talks of agents whose words come from models behind their own addresses. */
export function createModelTalks(settings: SandboxSettings): ModelTalks {
  const held = new Map<Call, { turns: readonly Turn[]; abort: AbortController }>();
  return {
    wants: isHeldByModel,
    async hold(call, answeredAt) {
      const { course } = call;
      const model = ownModelOf(call);
      if (course === null || model === null) throw new Error(`Call ${call.callId} is not held by a model of its agent.`);
      const talk = { turns: [] as readonly Turn[], abort: new AbortController() };
      held.set(call, talk);
      try {
        // Whatever a person said to pass the time, the model would have to be told.
        const setup = { ...setUpTalk(settings.seed, call, course, answeredAt), leastMs: 0 };
        const mind = modelMindOf(call, model, settings, talk.abort.signal);
        return await converseWithModel(setup, mind, (turns) => (talk.turns = turns));
      } catch (error) {
        // Nobody else waits for this, and one conversation must not take the service down.
        const reason = `internal_error: ${error instanceof Error ? error.name : 'unknown'}`;
        return { turns: [], endedAt: answeredAt, terminationReason: reason, brokeDown: true };
      } finally {
        if (held.get(call) === talk) held.delete(call);
      }
    },
    cutShort(call, at) {
      const talk = held.get(call);
      held.delete(call);
      talk?.abort.abort();
      return talkUntil(at, talk?.turns ?? []);
    },
    stop() {
      for (const { abort } of held.values()) abort.abort();
    },
  };
}
