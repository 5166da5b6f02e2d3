import { isFull, seedFactor } from '../support/depth.ts';
import { testWorlds } from './worlds-suite.ts';

testWorlds(1, (isFull ? 50 : 25) * seedFactor, 'sqlite');
