import { assessByModel, assessesByModel } from '../llm/model-assessment.ts';
import { ownModelOf } from '../core/conversation/model-settings.ts';
import type { ModelCaller } from '../llm/model-caller.ts';
import type { Call } from '../core/state/call.ts';

/** Asks the agent's own model what came of a finished conversation, where it is to be asked; until it answers the rules tell. */
export function assessAtLeisure(call: Call, modelCaller: ModelCaller, pendingWork: Set<Promise<unknown>>): void {
  const { agent, live, conversationId } = call;
  const model = ownModelOf(call);
  if (agent === null || live === null || live.brokeDown || model === null || !assessesByModel(agent.platform)) return;
  if (live.turns.some(({ usage }) => usage?.fallback === true)) return;
  const about = { conversationId, platform: agent.platform, model, signal: new AbortController().signal };
  const work = assessByModel(modelCaller, about, live).then((assessment) => {
    call.live = { ...live, assessment };
  });
  pendingWork.add(work);
  void work.catch(() => undefined).finally(() => pendingWork.delete(work));
}
