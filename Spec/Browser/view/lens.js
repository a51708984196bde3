// The pinhole camera behind a depth map: `camera_intrinsics` of metadata.json (raw-captures.md), or an assumption.

const NAMES = ["fx", "fy", "cx", "cy", "width", "height"];
// The focal length of a phone's main camera, as a share of the longer side: about 65 degrees.
const USUAL = 0.78;

/** `{fx, fy, cx, cy, isAssumed}` in samples of the stored depth map. */
export function lensOf(metadata, map) {
    const { width, height } = map.stored;
    const members = metadata?.root.members.get("camera_intrinsics")?.members;
    const [fx, fy, cx, cy, photoWidth, photoHeight] = NAMES.map(name => Number(members?.get(name)?.text ?? NaN));
    const isSound = fx > 0 && fy > 0 && photoWidth > 0 && photoHeight > 0 && Number.isFinite(cx + cy)
        && (photoWidth > photoHeight) === (width > height);
    if (isSound) {
        const [across, down] = [width / photoWidth, height / photoHeight];
        return { fx: fx * across, fy: fy * down, cx: cx * across, cy: cy * down, isAssumed: false };
    }
    const focal = USUAL * Math.max(width, height);
    return { fx: focal, fy: focal, cx: width / 2, cy: height / 2, isAssumed: true };
}
