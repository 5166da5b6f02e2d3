import { ModelCaller } from './model-caller.ts';
import type { SandboxSettings } from '../core/settings/settings.ts';
import type { Call } from '../core/state/call.ts';
import { converseWithModel, talkUntil } from '../core/conversation/converse.ts';
import type { LiveTalks } from '../core/conversation/agent-mind.ts';
import { modelMindOf } from './model-mind.ts';
import { isHeldByModel, ownModelOf } from '../core/conversation/effective-llm.ts';
import { setUpTalk } from '../core/conversation/talk-of.ts';
import type { Talk, Turn } from '../core/state/talk.ts';
import type { FastifyInstance } from 'fastify';
import type { Service } from '../core/service/service.ts';
import { controlModelRequests, ModelRequestLog } from './model-requests.ts';

interface HeldTalk {
  turns: readonly Turn[];
  abort: AbortController;
}

export interface ModelTalks extends LiveTalks {
  stop(): void;
}

export function createModelTalks(settings: SandboxSettings, caller: ModelCaller, unavailableModels: ReadonlySet<string>): ModelTalks {
  let stopping = new AbortController();
  const held = new Map<Call, HeldTalk>();
  return {
    wants: isHeldByModel,
    async hold(call, answeredAt) {
      const talk: HeldTalk = { turns: [], abort: new AbortController() };
      held.set(call, talk);
      try {
        return await hold(call, answeredAt, talk, AbortSignal.any([stopping.signal, talk.abort.signal]));
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
      stopping.abort();
      stopping = new AbortController();
    },
  };

  async function hold(call: Call, answeredAt: number, progress: HeldTalk, signal: AbortSignal): Promise<Talk> {
    const { course } = call;
    const model = ownModelOf(call);
    if (course === null || model === null) throw new Error(`Call ${call.callId} is not held by a model of its agent.`);
    const mind = modelMindOf(call, model, { settings, caller, unavailableModels, signal });
    // Whatever a person said to pass the time, the model would have to be told.
    const setup = { ...setUpTalk(settings.seed, call, course, answeredAt), leastMs: 0 };
    return converseWithModel(setup, mind, (turns) => (progress.turns = turns));
  }
}

export function installLlm(app: FastifyInstance, service: Service): { modelCaller: ModelCaller } {
  const { settings, clock, unavailableModels } = service;
  const requests = new ModelRequestLog();
  const modelCaller = new ModelCaller(requests, clock, settings.modelLimits, settings.outbound);
  const talks = createModelTalks(settings, modelCaller, unavailableModels);
  service.live = talks;
  service.features.push({
    leave(why) {
      talks.stop();
      if (why === 'closed') void modelCaller.close();
      else requests.clear();
    },
    forget: (conversationId) => requests.forget(conversationId),
  });
  controlModelRequests(app, requests);
  return { modelCaller };
}
