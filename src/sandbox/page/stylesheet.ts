import { colours } from './style-colours.ts';
import { controlsStyle } from './style-controls.ts';
import { frameStyle } from './style-frame.ts';
import { panelsStyle } from './style-panels.ts';

export const stylesheet = [colours, frameStyle, panelsStyle, controlsStyle].join('\n');
