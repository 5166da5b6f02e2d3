import type { DeskAction } from '../core/action.ts';
import { steerActions } from './steer.ts';

/** Everything that can be done from the page, and carries a form. */
export const actions: readonly DeskAction[] = [...steerActions];
