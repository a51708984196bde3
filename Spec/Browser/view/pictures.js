import { inflated, samplesOf } from "../verifier/depth.js";
import { Pace } from "../verifier/pace.js";
import { DEPTH, PHOTO } from "../verifier/path.js";
import { cloud } from "./cloud.js";
import { contentOf, presentEntry } from "./content.js";
import { DepthMap } from "./depthmap.js";
import { depthPicture } from "./depthpicture.js";
import { element } from "./dom.js";

// The photo that colours the points does not need more pixels than the points are.
const LARGEST_PHOTO = 1024;

/** Photo, depth map and points of a sound bundle, as figures in `box`. */
export async function showPictures(box, file, report, signal) {
    const progress = element("progress", { "aria-label": "Pictures that are made" });
    const pace = new Pace(signal, share => { progress.value = share; });
    box.append(progress);
    try {
        await addPictures(node => progress.before(node), file, report, pace, signal);
    } finally {
        progress.remove();
    }
}

async function addPictures(add, file, report, pace, signal) {
    let photo = null;
    const photoEntry = presentEntry(report, PHOTO);
    if (photoEntry) {
        photo = await decoded(await contentOf(file, photoEntry, pace), signal);
        add(photoFigure(photo));
    }
    const depthEntry = presentEntry(report, DEPTH);
    if (!depthEntry) return;
    const { depth } = report.manifest;
    pace.total = depth.bytes;
    // The gzip member was checked to its end when the bundle was verified, and its hash was compared again.
    const { floats } = await inflated(await contentOf(file, depthEntry, pace), depth.bytes, pace);
    const map = new DepthMap(samplesOf(floats), depth, report.photo);
    await map.measure(pace);
    add(await depthPicture(map, pace));
    if (map.measured > 0) add(cloud(map, report.metadata, photo?.image && smallPixels(photo.image)));
}

/** The photo as an image that the browser turned upright; `image` is null if it cannot be decoded. */
async function decoded(bytes, signal) {
    signal.throwIfAborted();
    const url = URL.createObjectURL(new Blob([bytes], { type: "image/jpeg" }));
    signal.addEventListener("abort", () => URL.revokeObjectURL(url));
    const image = new Image();
    image.src = url;
    try {
        await image.decode();
        return { image };
    } catch {
        return { image: null };
    }
}

function photoFigure({ image }) {
    if (!image) return element("p", { class: "note" }, "The browser cannot decode the photo. Save it to look at it.");
    image.alt = "The photo of this capture";
    image.width = image.naturalWidth;
    image.height = image.naturalHeight;
    return element(
        "figure", { class: "photo" }, image,
        element("figcaption", {}, `Photo, ${image.naturalWidth} × ${image.naturalHeight} pixels`));
}

function smallPixels(image) {
    const scale = Math.min(1, LARGEST_PHOTO / Math.max(image.naturalWidth, image.naturalHeight));
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(image.naturalWidth * scale));
    canvas.height = Math.max(1, Math.round(image.naturalHeight * scale));
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return context.getImageData(0, 0, canvas.width, canvas.height);
}
